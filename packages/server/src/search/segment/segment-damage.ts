/** A segment, or the list of segments, is not what was written. The index is then made again from the blocks. */
export class SegmentDamage extends Error {
  override readonly name = "SegmentDamage";
}
