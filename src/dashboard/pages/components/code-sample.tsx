/** A chat request as code in a selectable language, with a copy button. */
import { useState } from 'react'
import { SNIPPET_WRITERS, type SnippetOptions } from '../snippet-writers.ts'
import { CopyButton } from './elements.tsx'
import { SegmentedControl } from './segmented-control.tsx'

export function CodeSample({ use }: { use: SnippetOptions }) {
  const [language, setLanguage] = useState('curl')
  const snippet = SNIPPET_WRITERS[language]?.(use) ?? ''
  return (
    <div className="space-y-3">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <SegmentedControl
          label="Language"
          value={language}
          choices={Object.keys(SNIPPET_WRITERS).map(name => [name, name] as const)}
          onChange={setLanguage}
        />
        <CopyButton text={snippet} label="Copy snippet" />
      </div>
      <pre
        className="max-h-96 overflow-auto rounded-lg border border-line bg-sunken p-3 font-mono text-xs"
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable by keyboard
        tabIndex={0}
      >
        {snippet}
      </pre>
    </div>
  )
}
