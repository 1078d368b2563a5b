/** A partition for records of earlier months, which a new installation lacks. On the first of a month, the day before is in one. */
export const OLDER_PARTITION = `create table if not exists model_proxy.usage_records_older partition of model_proxy.usage_records
  for values from ('2021-01-01') to (date_trunc('month', now(), 'UTC'))`
