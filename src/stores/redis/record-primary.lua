-- Records the timeline of the primary in use, so that an old primary is not used again. KEYS: the highest timeline, by system.
-- ARGV: the system's identifier, the timeline. Returns: the highest timeline of the system.
local highest = math.max(tonumber(redis.call('HGET', KEYS[1], ARGV[1]) or 0), tonumber(ARGV[2]))
redis.call('HSET', KEYS[1], ARGV[1], highest)
return highest
