/** Pictures that the kernel holds: their data, or a blob of this server. A picture from elsewhere is a link. */
import { hostOf, metadataOf, safeLink, safePicture } from "@blockyard/kernel";
import type { ReactNode } from "react";
import { usePicture } from "../state/pictures.ts";
import { useText } from "../state/session.tsx";
import { Icon } from "../ui/icons.tsx";
import { fitted, sizeInData } from "../ui/picture-size.ts";
import type { RendererProps } from "./renderer.ts";

/** The room that a picture gets: as in blocks.css. */
const MOST_PX = { width: 640, height: 480 };

interface Picture {
  readonly data?: string | undefined;
  readonly blob?: string | undefined;
  readonly mediaType?: string | undefined;
  readonly width?: number | undefined;
  readonly height?: number | undefined;
}

export function ImageBlock({ block }: RendererProps): ReactNode {
  const text = useText(block.id, block.chars > 0);
  const { url, ...picture } = metadataOf(block, "image");
  const alt = text?.toString() || "picture";
  if (isShown(picture)) return <Shown picture={picture} alt={alt} />;
  const href = url === undefined ? undefined : safeLink(url);
  if (!href)
    return <div className="notice">This picture was not saved{text ? `: ${text.toString()}` : ""}</div>;
  return (
    <a className="remote-image" href={href} target="_blank" rel="noopener noreferrer nofollow">
      <Icon name="image" /> {alt} <span className="host">{hostOf(href)}</span>
    </a>
  );
}

export function Pictures({ images }: { images: readonly Picture[] }): ReactNode {
  return (
    <div className="pictures">
      {images.map((picture, i) =>
        isShown(picture) ? <Shown key={i} picture={picture} alt={`${i + 1} of ${images.length}`} /> : null,
      )}
    </div>
  );
}

interface ShownProps {
  readonly picture: Picture;
  readonly alt: string;
}

function Shown({ picture, alt }: ShownProps): ReactNode {
  const { width, height } = picture;
  const kept = usePicture(keptIn(picture));
  const data = dataOf(picture);
  const known = width && height ? { width, height } : data === undefined ? undefined : sizeInData(data);
  // Its room is reserved before it is decoded; one of unknown size is fitted into a fixed room.
  if (!known) return <img className="picture unsized" src={kept ?? data} alt={alt} />;
  return <img className="picture" src={kept ?? data} alt={alt} {...fitted(known, MOST_PX)} />;
}

function isShown(picture: Picture): boolean {
  return keptIn(picture) !== undefined || dataOf(picture) !== undefined;
}

function keptIn({ blob }: Picture): string | undefined {
  return blob !== undefined && /^[a-z0-9-]{8,128}$/i.test(blob) ? blob : undefined;
}

function dataOf({ data, mediaType }: Picture): string | undefined {
  if (data === undefined) return undefined;
  return safePicture(data, mediaType);
}
