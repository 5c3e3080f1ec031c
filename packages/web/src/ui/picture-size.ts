/**
 * How large a picture is, read from the beginning of its data before it is decoded: so that its room is there from the first
 * frame, and nothing below it moves when it comes. PNG, GIF, WebP and JPEG; of any other, and where the beginning makes no
 * sense, nothing is known.
 */

export interface PictureSize {
  readonly width: number;
  readonly height: number;
}

/** So much of the data is looked at: the sizes of JPEGs stand behind what cameras write. */
const MAX_BASE64 = 87_384;
const MAX_SIDE_PX = 65_535;

/** @param url A `data:` address in base64. */
export function sizeInData(url: string): PictureSize | undefined {
  const found = /^data:image\/[\w.+-]+;base64,/.exec(url);
  if (!found) return undefined;
  const from = found[0].length;
  const length = Math.min(MAX_BASE64, (url.length - from) & ~3);
  try {
    const text = atob(url.slice(from, from + length));
    const bytes = new DataView(Uint8Array.from(text, (sign) => sign.charCodeAt(0)).buffer);
    const size = sizeIn(bytes);
    const isSide = (px: number) => px > 0 && px <= MAX_SIDE_PX;
    return size && isSide(size.width) && isSide(size.height) ? size : undefined;
  } catch {
    // Too short, or no base64: as for any other picture.
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

/** Goes from segment to segment, each longer than nothing, to the frame's; a picture that a camera has turned is not known. */
function sizeInJpeg(bytes: DataView): PictureSize | undefined {
  for (let at = 2; ; ) {
    const marker = bytes.getUint16(at);
    if (marker >>> 8 !== 0xff) return undefined;
    // Exif: it may say that the picture is turned, and then the sides are exchanged.
    if (marker === 0xffe1) return undefined;
    const isFrame = marker >= 0xffc0 && marker <= 0xffcf && ![0xffc4, 0xffc8, 0xffcc].includes(marker);
    if (isFrame) return { width: bytes.getUint16(at + 7), height: bytes.getUint16(at + 5) };
    at += 2 + Math.max(2, bytes.getUint16(at + 2));
  }
}

/** As large as it is shown: no larger than the room that a picture gets. */
export function fitted({ width, height }: PictureSize, most: PictureSize): PictureSize {
  const share = Math.min(1, most.width / width, most.height / height);
  return { width: Math.max(1, Math.round(width * share)), height: Math.max(1, Math.round(height * share)) };
}
