/** A chart's numbers as a table, for screen readers and whoever wants them. */

interface NumbersProps {
  titles: readonly string[]
  /** The first cell of a row is its title. */
  rows: readonly (readonly (string | number)[])[]
}

export function ChartTable({ titles, rows }: NumbersProps) {
  return (
    <details className="border-t border-line px-4 py-2 text-xs text-muted">
      <summary>As numbers</summary>
      <div className="mt-2 max-h-60 overflow-auto">
        <table className="w-full text-left tabular-nums">
          <thead>
            <tr>
              {titles.map(title => (
                <th key={title} scope="col" className="font-medium">
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map(([title, ...cells]) => (
              <tr key={title}>
                <th scope="row" className="font-normal">
                  {title}
                </th>
                {cells.map((cell, at) => (
                  <td key={titles[at + 1]}>{cell}</td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </details>
  )
}
