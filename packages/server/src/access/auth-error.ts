/** A token or a name that is refused, with a sentence for whoever made it. */

export class AuthError extends Error {
  override name = "AuthError";
}
