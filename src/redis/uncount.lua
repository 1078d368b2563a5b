-- Takes requests that were counted, and refused after all, out of their windows again.
-- KEYS: the windows. ARGV: how many requests, the second they were counted in.
-- Only that second's own count may shrink: taken from a newer one, an older request would be forgotten too early.
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
            local taken = math.min(count, requests)
            counts = string.sub(counts, 1, at) .. struct.pack('>I4', count - taken) .. string.sub(counts, at + 5)
            redis.call('SET', key, struct.pack('>I4I4I4', total - taken, last, birth) .. counts, 'KEEPTTL')
        end
    end
end
return 0
