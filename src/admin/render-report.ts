/** Renders a monthly report as one HTML page, without scripts and external resources. */
import { describeReason } from '../cache/reasons.ts'
import type { JsonRowOf } from '../postgres/admin/call-as.ts'
import { hitRateOf } from './responses/shared.ts'

/** The rows of monthly_report(). */
type OverviewRow = JsonRowOf<'usage_overview'>
type ShareRow = JsonRowOf<'usage_shares'>

export interface MonthlyReport {
  /** `2026-10`. */
  month: string
  projects: string[]
  /** Days in UTC; days without requests are omitted. */
  days: OverviewRow[]
  models: ShareRow[]
  keys: ShareRow[]
  /** Values of the tag `team`. The name is empty for requests without a team. */
  teams: ShareRow[]
  /** Tags, such as `env=prod`. */
  tags: ShareRow[]
  /** Cache misses by reason, most expensive first. The name is empty if no reason was recorded. */
  misses: { name: string; requests: number; cost_usd: number }[]
  /** The number of hits that people judged wrong. */
  wrong_hits: number
}

const SPENT = '#b45309'
const SAVED = '#0f766e'
const WIDTH = 760
const HEIGHT = 180

export function renderReport(report: MonthlyReport): string {
  const { month, projects, days, models, keys, teams, tags, misses, wrong_hits } = report
  const others = tags.filter(({ name }) => !name.startsWith('team='))
  const who = projects.length === 1 ? (projects[0] ?? '') : `${projects.length} projects`
  const title = `${who}, ${month}`
  return `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>${Bun.escapeHTML(title)}</title>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
<style>
body { font: 14px/1.5 system-ui, sans-serif; color: #1c1917; margin: 2rem auto; max-width: ${WIDTH}px; padding: 0 1rem }
h1 { font-size: 1.5rem } h2 { font-size: 1.1rem; margin-top: 2rem; break-after: avoid }
dl { display: grid; grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); gap: .75rem }
dl div { border: 1px solid #d6d3d1; border-radius: .5rem; padding: .5rem .75rem } dt { color: #57534e } dd { margin: 0; font-size: 1.3rem; font-weight: 600 }
table { border-collapse: collapse; width: 100%; break-inside: avoid } th, td { padding: .3rem .5rem; border-bottom: 1px solid #e7e5e4; text-align: right }
th:first-child, td:first-child { text-align: left; overflow-wrap: anywhere } th { color: #57534e; font-weight: 500 }
svg { width: 100%; height: auto } svg text { font-size: 11px; fill: #57534e } .spent { color: ${SPENT} } .saved { color: ${SAVED} }
</style></head><body>
<h1>Model Proxy: ${Bun.escapeHTML(title)}</h1>
${writeTotals(days, wrong_hits)}
${section('Spent and saved by day', days.length === 0 ? NOTHING : plotDays(month, days))}
${section('By model', tableOf('Model', models))}
${section('By team', teams.every(({ name }) => name === '') ? '<p>No request was tagged with its team (<code>X-Proxy-Tags: team=…</code>).</p>' : tableOf('Team', teams, 'Without a team'))}
${others.length === 0 ? '' : section('By other tags', tableOf('Tag', others))}
${section('By key', tableOf('Key', keys))}
${section('Cache misses by reason', tableOfMisses(misses))}
<p>Costs come from the catalogue’s prices, or from the providers. Saved is the original cost of the responses that the cache served. Times are UTC.</p>
</body></html>
`
}

const NOTHING = '<p>There were no requests.</p>'
const section = (title: string, content: string) => `<section><h2>${title}</h2>${content}</section>`
const sum = (days: readonly OverviewRow[], field: Exclude<keyof OverviewRow, 'bucket_start'>) =>
  days.reduce((total, day) => total + day[field], 0)

function writeTotals(days: readonly OverviewRow[], wrongHits: number): string {
  const hits = sum(days, 'exact_hits') + sum(days, 'semantic_hits')
  const failed = sum(days, 'client_errors') + sum(days, 'server_errors')
  const tiles = {
    Spent: dollars(sum(days, 'cost_usd')),
    Saved: dollars(sum(days, 'saved_usd')),
    'Hit rate': percent(hitRateOf({ hits, misses: sum(days, 'misses') })),
    Requests: count(sum(days, 'requests')),
    'Exact hits': count(sum(days, 'exact_hits')),
    'Semantic hits': count(sum(days, 'semantic_hits')),
    'Wrong hits': count(wrongHits),
    Failed: count(failed),
  }
  const written = Object.entries(tiles).map(([name, value]) => `<div><dt>${name}</dt><dd>${value}</dd></div>`)
  return `<dl>${written.join('')}</dl>`
}

/** Plots two bars for each day: spent, and saved. */
function plotDays(month: string, days: readonly OverviewRow[]): string {
  const [year = 0, number = 1] = month.split('-').map(Number)
  const daysInMonth = new Date(Date.UTC(year, number, 0)).getUTCDate()
  const max = Math.max(...days.flatMap(day => [day.cost_usd, day.saved_usd])) || 1
  const step = (WIDTH - 60) / daysInMonth
  const byDay = new Map(days.map(day => [new Date(day.bucket_start).getUTCDate(), day]))
  const bars = Array.from({ length: daysInMonth }, (_, at) => {
    const day = byDay.get(at + 1)
    const x = 60 + at * step
    const bar = (usd: number, offset: number, colour: string, what: string) => {
      const height = (usd / max) * (HEIGHT - 40)
      const box = `x="${(x + offset).toFixed(1)}" y="${(HEIGHT - 20 - height).toFixed(1)}" width="${(step * 0.38).toFixed(1)}"`
      return `<rect ${box} height="${height.toFixed(1)}" fill="${colour}"><title>${month}-${pad(at + 1)}: ${what} ${dollars(usd)}</title></rect>`
    }
    const label = at % 5 === 0 ? `<text x="${x.toFixed(1)}" y="${HEIGHT - 5}">${at + 1}</text>` : ''
    if (!day) return label
    return `${bar(day.cost_usd, 0, SPENT, 'spent')}${bar(day.saved_usd, step * 0.4, SAVED, 'saved')}${label}`
  })
  return `<p><span class="spent">■ spent</span> <span class="saved">■ saved</span></p>
<svg viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-label="Dollars spent and saved on each day">
<text x="0" y="24">${dollars(max)}</text><text x="0" y="${HEIGHT - 20}">0</text>
<line x1="60" x2="${WIDTH}" y1="${HEIGHT - 20}" y2="${HEIGHT - 20}" stroke="#d6d3d1"/>${bars.join('')}</svg>`
}

function tableOf(title: string, shares: readonly ShareRow[], without = ''): string {
  if (shares.length === 0) return NOTHING
  const max = Math.max(...shares.map(each => each.cost_usd + each.saved_usd)) || 1
  const rows = shares.map(each => [
    Bun.escapeHTML(each.name || without),
    plotShare(each, max),
    count(each.requests),
    percent(hitRateOf(each)),
    dollars(each.cost_usd),
    dollars(each.saved_usd),
  ])
  return tableOfRows([title, 'Spent, saved', 'Requests', 'Hit rate', 'Spent', 'Saved'], rows)
}

function plotShare({ cost_usd, saved_usd }: ShareRow, max: number): string {
  const [spent, saved] = [(cost_usd / max) * 160, (saved_usd / max) * 160]
  return `<svg viewBox="0 0 160 10" style="width:160px" aria-hidden="true"><rect width="${spent.toFixed(1)}" height="10" fill="${SPENT}"/><rect x="${spent.toFixed(1)}" width="${saved.toFixed(1)}" height="10" fill="${SAVED}"/></svg>`
}

function tableOfMisses(misses: MonthlyReport['misses']): string {
  if (misses.length === 0) return NOTHING
  const rows = misses.map(({ name, requests, cost_usd }) => [
    Bun.escapeHTML(name === '' ? 'Not cached, or no reason was recorded.' : describeReason(name)),
    count(requests),
    dollars(cost_usd),
  ])
  return tableOfRows(['Reason', 'Requests', 'Spent'], rows)
}

function tableOfRows(titles: readonly string[], rows: readonly (readonly string[])[]): string {
  const head = titles.map(title => `<th scope="col">${title}</th>`).join('')
  const body = rows.map(row => `<tr>${row.map(cell => `<td>${cell}</td>`).join('')}</tr>`).join('')
  return `<table><thead><tr>${head}</tr></thead><tbody>${body}</tbody></table>`
}

const count = (value: number) => value.toLocaleString('en')
const percent = (share: number | null) => (share === null ? '–' : `${(100 * share).toFixed(1)} %`)
const pad = (value: number) => String(value).padStart(2, '0')

/** Formats US dollars with cents; amounts below a dollar have up to four digits. */
function dollars(usd: number): string {
  return `$${usd.toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: usd < 1 ? 4 : 2 })}`
}
