/** A chat request in the language that is chosen, ready to be copied. */
import { useState } from 'react'
import { SNIPPETS, type Use } from '../snippets.ts'
import { CopyButton } from './basics.tsx'
import { Segments } from './segments.tsx'

export function CodeSample({ use }: { use: Use }) {
  const [language, setLanguage] = useState('curl')
  const snippet = SNIPPETS[language]?.(use) ?? ''
  return (
    <div className="space-y-3">
      <div className="flex flex-wrap items-center justify-between gap-2">
        <Segments
          label="Language"
          value={language}
          choices={Object.keys(SNIPPETS).map(name => [name, name] as const)}
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
