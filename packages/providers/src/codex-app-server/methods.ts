/**
 * Notifications and requests of the app-server that say nothing of a conversation: bookkeeping of threads and accounts, echoes of
 * what the client itself has asked for, sounds, and what another message says better. Everything else that is not known is
 * shown as unknown.
 */

export const SILENT: ReadonlySet<string> = new Set([
  "account/gatewayOAuth/changed",
  "account/login/completed",
  "account/updated",
  "app/list/updated",
  "authStatusChange",
  "autoApprovalReview/strictReviewRequired",
  "command/exec/outputDelta",
  "externalAgentConfig/import/completed",
  "externalAgentConfig/import/progress",
  "fs/changed",
  "fuzzyFileSearch/sessionCompleted",
  "fuzzyFileSearch/sessionUpdated",
  "hook/started",
  "item/autoApprovalReview/started",
  // The patch itself is in its item.
  "item/fileChange/outputDelta",
  // The delta that follows names the part.
  "item/reasoning/summaryPartAdded",
  "loginChatGptComplete",
  "mcpServer/event/stream/notification",
  "mcpServer/oauthLogin/completed",
  "model/safetyBuffering/updated",
  "model/verification",
  "modelProvider/authRecoveryCompleted",
  "modelProvider/authRecoveryStarted",
  "process/exited",
  "process/outputDelta",
  "project/changed",
  // The same as items, in the form of the API.
  "rawResponse/completed",
  "rawResponseItem/completed",
  "remoteControl/status/changed",
  "sessionConfigured",
  "skills/changed",
  "thread/archived",
  "thread/attachment/updated",
  "thread/closed",
  // The item says so.
  "thread/compacted",
  "thread/deleted",
  "thread/environment/connected",
  "thread/environment/disconnected",
  "thread/goal/cleared",
  "thread/goal/updated",
  "thread/prediction/updated",
  "thread/project/updated",
  "thread/queue/changed",
  "thread/readState/changed",
  "thread/realtime/closed",
  "thread/realtime/item/completed",
  "thread/realtime/item/started",
  "thread/realtime/item/transcript/delta",
  "thread/realtime/itemAdded",
  "thread/realtime/outputAudio/delta",
  "thread/realtime/sdp",
  "thread/realtime/started",
  "thread/realtime/transcript/delta",
  "thread/realtime/transcript/done",
  "thread/section/changed",
  "thread/status/changed",
  "thread/unarchived",
  // Each patch has its own diff.
  "turn/diff/updated",
  "turn/moderationMetadata",
  "windows/worldWritableWarning",
  "windowsSandbox/setupCompleted",
]);

/** The client answers these by itself; a tool's call is an item too. */
export const SILENT_REQUESTS: ReadonlySet<string> = new Set([
  "account/chatgptAuthTokens/refresh",
  "applyPatchApproval",
  "attestation/generate",
  "currentTime/read",
  "execCommandApproval",
  "item/tool/call",
]);
