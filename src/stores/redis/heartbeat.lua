-- Notes that a process lives, and counts those that do. KEYS: the processes, by the second in which they were last seen.
-- ARGV: the process, and after how many seconds one counts as gone. Returns: how many live, and 1 if this one was not
-- among them.
local now = tonumber(redis.call('TIME')[1])
local added = redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - ARGV[2])
-- Seen before the clock stepped back: who lives says so again.
redis.call('ZREMRANGEBYSCORE', KEYS[1], now + ARGV[2], '+inf')
redis.call('EXPIRE', KEYS[1], ARGV[2])
return { redis.call('ZCARD', KEYS[1]), added }
