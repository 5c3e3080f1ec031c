/**
 * The folder that a conversation's agents work in: paths in it are shown without it, wherever its blocks are drawn.
 */
import { createContext, useContext } from "react";

const Folder = createContext<string | undefined>(undefined);
export const FolderProvider = Folder.Provider;

export function useFolder(): string | undefined {
  return useContext(Folder);
}
