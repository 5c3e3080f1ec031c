/**
 * Pictures that the server keeps, as addresses that an image can show: the browser asks for an image's address without the
 * page's ticket, so the page fetches the bytes itself.
 */
import { useEffect, useState } from "react";
import { request } from "./proof.ts";

/** To be released with URL.revokeObjectURL; undefined if the server does not have it. */
export async function pictureUrl(blob: string): Promise<string | undefined> {
  const answer = await request(`/v1/blobs/${blob}`).catch(() => undefined);
  return answer?.ok ? URL.createObjectURL(await answer.blob()) : undefined;
}

/** The address of a stored picture, once it is loaded. */
export function usePicture(blob: string | undefined): string | undefined {
  const [url, setUrl] = useState<string | undefined>(undefined);
  useEffect(() => {
    if (blob === undefined) return undefined;
    let isOver = false;
    let made: string | undefined;
    void pictureUrl(blob).then((found) => {
      made = found;
      if (!isOver) setUrl(found);
      else if (found !== undefined) URL.revokeObjectURL(found);
    });
    return () => {
      isOver = true;
      setUrl(undefined);
      if (made !== undefined) URL.revokeObjectURL(made);
    };
  }, [blob]);
  return url;
}
