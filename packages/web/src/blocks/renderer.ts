/**
 * What a renderer is: a component for one kind of block. It gets the block's record and asks for the text itself, if it
 * shows it: what is closed is neither loaded nor drawn.
 */
import type { Block, Kind, Metadata } from "@blockyard/kernel";
import type { ReactNode } from "react";

export interface RendererProps {
  readonly block: Block;
}

export type Renderer = (props: RendererProps) => ReactNode;

/** The metadata of a block whose kind is known; the kernel has checked it against the kind's schema. */
export function metadataOf<K extends Kind>(block: Block, _kind: K): Metadata<K> {
  return block.metadata as Metadata<K>;
}

/** Lines of the text, counted as an editor does; a final newline begins no other line. */
export function lineCount(block: Block): number {
  return block.chars === 0 ? 0 : block.newlines + 1;
}
