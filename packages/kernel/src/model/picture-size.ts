/**
 * Reads a picture's size from its first bytes, so that the page can reserve the space before the picture loads. PNG, GIF, WebP and
 * JPEG; undefined for other formats and damaged headers.
 */

export interface PictureSize {
  readonly width: number;
  readonly height: number;
}

const MAX_SIDE_PX = 65_535;
/** The EXIF orientations that swap width and height. */
const FIRST_TURNED = 5;
const LAST_TURNED = 8;
const ORIENTATION = 0x0112;

export function pictureSize(bytes: Uint8Array): PictureSize | undefined {
  try {
    const size = sizeIn(new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength));
    const isSide = (px: number) => px > 0 && px <= MAX_SIDE_PX;
    return size && isSide(size.width) && isSide(size.height) ? size : undefined;
  } catch {
    // The data ends too early.
    return undefined;
  }
}

function sizeIn(bytes: DataView): PictureSize | undefined {
  const start = bytes.getUint32(0);
  if (start === 0x89504e47) return { width: bytes.getUint32(16), height: bytes.getUint32(20) };
  if (start === 0x47494638) return { width: bytes.getUint16(6, true), height: bytes.getUint16(8, true) };
  if (start === 0x52494646 && bytes.getUint32(8) === 0x57454250) return sizeInWebp(bytes);
  return start >>> 16 === 0xffd8 ? sizeInJpeg(bytes) : undefined;
}

function sizeInWebp(bytes: DataView): PictureSize | undefined {
  const sides = (bits: number) => ({ width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 });
  switch (bytes.getUint32(12)) {
    case 0x56503820: // "VP8 "
      return { width: bytes.getUint16(26, true) & 0x3fff, height: bytes.getUint16(28, true) & 0x3fff };
    case 0x5650384c: // "VP8L"
      return sides(bytes.getUint32(21, true));
    case 0x56503858: // "VP8X"
      return {
        width: (bytes.getUint32(24, true) & 0xffffff) + 1,
        height: (bytes.getUint32(26, true) >>> 8) + 1,
      };
    default:
      return undefined;
  }
}

/** Walks the segments up to the frame header. Each step advances, even in damaged data. */
function sizeInJpeg(bytes: DataView): PictureSize | undefined {
  let isTurned = false;
  for (let at = 2; ; ) {
    const marker = bytes.getUint16(at);
    if (marker >>> 8 !== 0xff) return undefined;
    const isFrame = marker >= 0xffc0 && marker <= 0xffcf && ![0xffc4, 0xffc8, 0xffcc].includes(marker);
    const [one, other] = isFrame ? [bytes.getUint16(at + 7), bytes.getUint16(at + 5)] : [0, 0];
    if (isFrame) return isTurned ? { width: other, height: one } : { width: one, height: other };
    if (marker === 0xffe1) isTurned ||= turnedInExif(bytes, at + 4);
    at += 2 + Math.max(2, bytes.getUint16(at + 2));
  }
}

/** Exif: a TIFF header, then a list of fields; one of them is the orientation. */
function turnedInExif(bytes: DataView, at: number): boolean {
  const tiff = at + 6;
  if (bytes.getUint32(at) !== 0x45786966) return false;
  const isLittle = bytes.getUint16(tiff) === 0x4949;
  const first = tiff + bytes.getUint32(tiff + 4, isLittle);
  const count = bytes.getUint16(first, isLittle);
  for (let i = 0; i < count; i++) {
    const field = first + 2 + 12 * i;
    if (bytes.getUint16(field, isLittle) !== ORIENTATION) continue;
    const value = bytes.getUint16(field + 8, isLittle);
    return value >= FIRST_TURNED && value <= LAST_TURNED;
  }
  return false;
}
