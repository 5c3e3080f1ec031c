/**
 * Citations: an answer's sources, as a numbered list of titles with their hosts and the cited passages. The numbers are
 * in the text.
 */
import { hostOf, type Metadata, type Source, safeLink, sourcesOf } from "@blockyard/kernel";
import type { ReactNode } from "react";
import { Icon } from "../ui/icons.tsx";
import { breakable } from "../ui/long-words.tsx";
import { useFirstEntries } from "./first-entries.tsx";

type Citation = NonNullable<Metadata<"text">["citations"]>[number];

export function Citations({ citations }: { citations: readonly Citation[] }): ReactNode {
  const { first, more } = useFirstEntries(sourcesOf(citations));
  return (
    <ol className="citations" aria-label="Sources">
      {first.map((source) => (
        <li key={source.url}>
          <SourceLink source={source} />
          {source.snippets.map((snippet) => (
            <span key={snippet} className="snippet">
              {breakable(snippet)}
            </span>
          ))}
        </li>
      ))}
      {more && <li>{more}</li>}
    </ol>
  );
}

function SourceLink({ source: { url, title = url } }: { source: Source }): ReactNode {
  const href = safeLink(url);
  if (!href) return <span>{breakable(title)}</span>;
  return (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow">
      <Icon name="link" /> {breakable(title)} <span className="host">{hostOf(href)}</span>
    </a>
  );
}
