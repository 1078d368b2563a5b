-- Records a process's heartbeat, and counts the live processes. KEYS: the processes, by the second of their last heartbeat.
-- ARGV: the process, and the seconds without a heartbeat after which a process is treated as ended.
-- Returns: the number of live processes, and 1 if this one is new.
local now = tonumber(redis.call('TIME')[1])
local added = redis.call('ZADD', KEYS[1], now, ARGV[1])
redis.call('ZREMRANGEBYSCORE', KEYS[1], '-inf', now - ARGV[2])
-- Removes heartbeats in the future, from before the clock stepped back. Live processes send another.
redis.call('ZREMRANGEBYSCORE', KEYS[1], now + ARGV[2], '+inf')
redis.call('EXPIRE', KEYS[1], ARGV[2])
return { redis.call('ZCARD', KEYS[1]), added }
