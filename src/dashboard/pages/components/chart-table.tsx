/** The numbers of a chart as a collapsible table, which also serves screen readers. */

interface ChartTableProps {
  titles: readonly string[]
  /** The first cell of each row is its heading. */
  rows: readonly (readonly (string | number)[])[]
}

export function ChartTable({ titles, rows }: ChartTableProps) {
  return (
    <details className="border-t border-line px-4 py-2 text-xs text-muted">
      <summary>Show as table</summary>
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
