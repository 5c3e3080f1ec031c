/**
 * The time, for ages that grow: what shows them is drawn again now and then.
 */
import { useEffect, useState } from "react";
import { AGE_MS } from "./limits.ts";

export function useNow(): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), AGE_MS);
    return () => clearInterval(timer);
  }, []);
  return now;
}
