/**
 * Citations: what an answer leans on, as a list of titles with their hosts.
 */
import type { Metadata } from "@blockyard/kernel";
import type { ReactNode } from "react";
import { Icon } from "../icons.tsx";
import { hostOf, safeLink } from "../markdown/link.ts";

type Citation = NonNullable<Metadata<"text">["citations"]>[number];

export function Citations({ citations }: { citations: readonly Citation[] }): ReactNode {
  return (
    <ol className="citations" aria-label="Sources">
      {citations.map((citation, i) => (
        <li key={i}>
          <Source citation={citation} />
          {citation.snippet && <span className="snippet">{citation.snippet}</span>}
        </li>
      ))}
    </ol>
  );
}

function Source({ citation }: { citation: Citation }): ReactNode {
  const href = safeLink(citation.url);
  const title = citation.title || citation.url;
  if (!href) return <span>{title}</span>;
  return (
    <a href={href} target="_blank" rel="noopener noreferrer nofollow">
      <Icon name="link" /> {title} <span className="host">{hostOf(href)}</span>
    </a>
  );
}
