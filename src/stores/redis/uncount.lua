-- Removes requests that were counted and rejected later from their windows.
-- KEYS: the windows. ARGV: the number of requests, and the second in which they were counted.
-- Reduces only that second's count. Reducing a newer one would remove an older request too early.
local SECONDS = 61
local HEAD = 12
local requests = tonumber(ARGV[1])
local second = tonumber(ARGV[2])

for _, key in ipairs(KEYS) do
    local stored = redis.pcall('GET', key)
    if type(stored) == 'string' and #stored == HEAD + SECONDS * 4 then
        local total, last, birth = struct.unpack('>I4I4I4', stored)
        if second <= last and last - second < SECONDS then
            local counts = string.sub(stored, HEAD + 1)
            local at = second % SECONDS * 4
            local count = struct.unpack('>I4', counts, at + 1)
            local removed = math.min(count, requests)
            counts = string.sub(counts, 1, at) .. struct.pack('>I4', count - removed) .. string.sub(counts, at + 5)
            redis.call('SET', key, struct.pack('>I4I4I4', total - removed, last, birth) .. counts, 'KEEPTTL')
        end
    end
end
return 0
