-- Which of a provider's keys were asked. A column without a default: rows that exist are not rewritten.

-- step: locked
lock table usage_records in access exclusive mode;

alter table usage_records add column provider_keys text;

comment on column usage_records.provider_keys is 'Where the project has several keys of the provider: the names of those that were asked, in order, with commas between them. One that was refused has the status after it; the last one answered.';
