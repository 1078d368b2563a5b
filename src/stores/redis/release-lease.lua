-- Releases a lease, if it still has this holder. KEYS: the lease. ARGV: the holder.
if redis.call('GET', KEYS[1]) == ARGV[1] then
    return redis.call('DEL', KEYS[1])
end
return 0
