create or replace function grain_start(at timestamptz, grain text) returns timestamptz
language sql
stable
parallel safe
-- Without settings, the function is inlined into the calling query.
as $$
    select case grain
        when 'quarter' then date_bin('15 minutes', at, 'epoch')
        when 'third' then date_trunc('month', at, 'UTC') + least(2, (extract(day from at at time zone 'UTC')::integer - 1) / 10) * interval '240 hours'
        else date_trunc(grain, at, 'UTC')
    end;
$$;

comment on function grain_start(timestamptz, text) is 'The start of the quarter of an hour, hour, UTC day, third of a UTC month or UTC month (grain: quarter, hour, day, third, month) in which a time lies. Thirds begin on the 1st, 11th and 21st.';
