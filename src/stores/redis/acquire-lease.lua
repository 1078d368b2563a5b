-- Acquires a lease unless another process has it, and reads the exact entry that an earlier call may have stored.
-- KEYS: the lease, the entry. Both share one hash tag. ARGV: the holder, and the lease's lifetime in milliseconds.
-- Returns: the present holder, or false when the lease was acquired, followed by the entry.
local holder = redis.call('GET', KEYS[1])
if holder then
    return { holder }
end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return { false, redis.call('GET', KEYS[2]) }
