-- Gives a lease up, if it still is that one. KEYS: the lease. ARGV: who had it.
if redis.call('GET', KEYS[1]) == ARGV[1] then
    return redis.call('DEL', KEYS[1])
end
return 0
