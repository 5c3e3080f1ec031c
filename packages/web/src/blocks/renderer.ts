/**
 * The type of a renderer: a component for one kind of block. It gets the block's record and requests the text itself,
 * if it shows it: a collapsed text is neither loaded nor drawn.
 */
import type { Block, Text } from "@blockyard/kernel";
import type { ReactNode } from "react";
import { useTextHere } from "../state/session.tsx";

export interface RendererProps {
  readonly block: Block;
}

export type Renderer = (props: RendererProps) => ReactNode;

/** How many lines a block has, closed or not: nothing is loaded for it. */
export function useLineCount(block: Block): number {
  return lineCount(block, useTextHere(block.id));
}

/**
 * Lines of the text, counted as an editor does: a final newline begins no other line. The record alone does not tell
 * whether there is one, so a text that is not here may have one line less than this says.
 */
function lineCount({ chars, newlines }: Block, text: Text | undefined): number {
  return text?.lineCount ?? (chars === 0 ? 0 : newlines + 1);
}
