/** A budget and its present period, as JSON. Apart from the calls, because the dashboard's pages use it in the browser. */
export interface BudgetRow {
  id: number
  /** Null for requests with any key, model or tag. */
  key_id: number | null
  key_name: string | null
  key_prefix: string | null
  model: string | null
  /** As `name=value`. */
  tag: string | null
  unit: 'usd' | 'tokens'
  amount: number
  per: 'day' | 'week' | 'month' | 'total'
  time_zone: string
  spent: number
  /** The most that requests under way may cost. */
  reserved: number
  remaining: number
  begins_at: string | null
  /** Null for a total. */
  resets_at: string | null
}

export interface SpendAlertRow {
  id: number
  /** In US dollars. */
  amount: number
  recipients: string[]
  subject_prefix: string | null
}
