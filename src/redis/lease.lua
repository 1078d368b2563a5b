-- Takes a lease, unless somebody has it, and reads the exact entry that an earlier call may have left: in one step.
-- KEYS: the lease, the entry. Both share one hash tag. ARGV: who asks, for how many milliseconds.
-- Returns: who has had it since before, or false where it is taken now; then the entry.
local holder = redis.call('GET', KEYS[1])
if holder then
    return { holder }
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return { false, redis.call('GET', KEYS[2]) }
