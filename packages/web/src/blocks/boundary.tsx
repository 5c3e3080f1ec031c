/**
 * One block's error stays that block's: a renderer that throws shows what went wrong in its own place, and the rest of
 * the page goes on. It tries again when the block changes.
 */
import { Component, type ReactNode } from "react";

interface BoundaryProps {
  /** Changes when it is worth another try. */
  readonly version: number;
  readonly what: string;
  readonly children: ReactNode;
}

interface BoundaryState {
  readonly error: Error | undefined;
  readonly version: number;
}

export class Boundary extends Component<BoundaryProps, BoundaryState> {
  override state: BoundaryState = { error: undefined, version: this.props.version };

  static getDerivedStateFromError(error: unknown): Partial<BoundaryState> {
    return { error: error instanceof Error ? error : new Error(String(error)) };
  }

  static getDerivedStateFromProps(props: BoundaryProps, state: BoundaryState): Partial<BoundaryState> | null {
    return props.version === state.version ? null : { error: undefined, version: props.version };
  }

  override render(): ReactNode {
    const { error } = this.state;
    if (!error) return this.props.children;
    return (
      <div className="block-broken" role="note">
        This {this.props.what} can't be displayed: {error.message}. Its text is safe: copy or export it.
      </div>
    );
  }
}
