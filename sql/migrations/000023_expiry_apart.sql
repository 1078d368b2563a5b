-- What is looked up by its request must not be found through the index by expiry: where the table was empty when a plan was made, both
-- cost the same, and the newer of the two was taken. A condition that says nothing new keeps it to those that ask for expiry.
-- squawk-ignore-file require-concurrent-index-deletion
-- The old one goes last: until then entries can be read.
create index cache_entries_expires_idx on cache_entries (project_id, test, expires_at) where expires_at is not null;
drop index cache_entries_expiry_idx;
alter index cache_entries_expires_idx rename to cache_entries_expiry_idx;
