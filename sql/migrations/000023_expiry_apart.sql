-- What is looked up by its request must not be found through the index by expiry: where the table was empty when a plan was made, both
-- cost the same, and the newer of the two was taken. A condition that says nothing new keeps it to those that ask for expiry.
-- squawk-ignore-file require-concurrent-index-deletion, require-concurrent-index-creation
drop index cache_entries_expiry_idx;
create index cache_entries_expiry_idx on cache_entries (project_id, test, expires_at) where expires_at is not null;
