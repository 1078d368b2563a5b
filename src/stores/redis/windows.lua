-- Counts a batch of requests in sliding windows and reads its exact entries, atomically.
-- KEYS: the windows, then the entries to read. All share one hash tag, and so one cluster slot.
-- ARGV: the number of requests (negative: grant all of them or none), the number of windows, the prefix of all names, then for each
-- window: its limit; the birth of the caller's copy (0 for none); requests that were granted while Redis was unavailable; and, to restore
-- a lost window, the caller's copy (else empty).
-- Returns: the number of granted requests, the second they were counted in, milliseconds until one more, or all, could be granted (0 for
-- now), each window, then the entries (none when no request is granted). Returns -1 and the second, with nothing changed, when a window
-- is not the one of the caller's copy: a restart, a flush or an eviction lost it, and the caller must call again with its copy.
--
-- A window is a string: total, last second written, birth, and 61 counts, one per second, each 4 bytes. A request counts from its
-- second until 61 whole seconds later, so no interval of 60 seconds can contain more than the limit, whatever its phase.
local SECONDS = 61
local HEAD = 12
local SIZE = HEAD + SECONDS * 4
local EMPTY = string.rep('\0', SECONDS * 4)

local clock = redis.call('TIME')
local now = tonumber(clock[1])
local requested = math.abs(tonumber(ARGV[1]))
local all_or_nothing = tonumber(ARGV[1]) < 0
local window_count = tonumber(ARGV[2])

-- Treats a key of another type, which no release writes, as missing, so that it does not fail every request.
local function get(key)
    local stored = redis.pcall('GET', key)
    return type(stored) == 'string' and stored or false
end

-- Length of the signature before an entry: SIGNATURE_BYTES of signed-store.ts.
local SIGNATURE = 28

-- Returns an entry. If it is an alias, whose first line names another entry, returns both, concatenated.
local function read_entry(key)
    local stored = get(key)
    local target = stored and string.match(stored, '^%[3,"([^"]+)"', SIGNATURE + 1)
    if not target then
        return stored
    end
    local entry = get(ARGV[3] .. target)
    return entry and stored .. entry
end

-- Returns total, counts and birth of a stored window, without the seconds that have left it. A window that ends in the future was written
-- before the clock stepped back. If the step is shorter than the window, the window ends now. Otherwise its age is unknown, and it is lost.
local function open_window(stored)
    if not stored or #stored ~= SIZE then
        return { total = 0, counts = EMPTY, birth = 0 }
    end
    local total, last, birth = struct.unpack('>I4I4I4', stored)
    local counts = string.sub(stored, HEAD + 1)
    local ahead = last - now
    if ahead >= SECONDS then
        return { total = 0, counts = EMPTY, birth = 0 }
    end
    if ahead > 0 then
        counts = string.sub(counts, ahead * 4 + 1) .. string.sub(counts, 1, ahead * 4)
        last = now
    end
    if now - last >= SECONDS then
        return { total = 0, counts = EMPTY, birth = birth }
    end
    for second = last + 1, now do
        local at = second % SECONDS * 4
        local count = struct.unpack('>I4', counts, at + 1)
        if count > 0 then
            total = total - count
            counts = string.sub(counts, 1, at) .. '\0\0\0\0' .. string.sub(counts, at + 5)
        end
    end
    return { total = total, counts = counts, birth = birth }
end

-- Merges a caller's copy into a lost window. For each second, the highest count of all callers' copies is kept.
local function restore_window(window, copy)
    local seen = open_window(copy)
    local counts = {}
    window.total = 0
    for at = 0, SECONDS - 1 do
        local stored_count = struct.unpack('>I4', window.counts, at * 4 + 1)
        local copy_count = struct.unpack('>I4', seen.counts, at * 4 + 1)
        local count = math.max(stored_count, copy_count)
        window.total = window.total + count
        counts[at + 1] = struct.pack('>I4', count)
    end
    window.counts = table.concat(counts)
end

local function add_to_window(window, requests)
    local at = now % SECONDS * 4
    local count = struct.unpack('>I4', window.counts, at + 1) + requests
    window.total = window.total + requests
    window.counts = string.sub(window.counts, 1, at) .. struct.pack('>I4', count) .. string.sub(window.counts, at + 5)
end

local function write_window(window)
    return struct.pack('>I4I4I4', window.total, now, window.birth) .. window.counts
end

-- Returns milliseconds until the window has capacity for one more request, or for an all-or-nothing batch.
local function time_until_capacity(window, limit)
    local over = window.total + (all_or_nothing and requested or 1) - limit
    if over <= 0 then
        return 0
    end
    for second = now - SECONDS + 1, now do
        over = over - struct.unpack('>I4', window.counts, second % SECONDS * 4 + 1)
        if over <= 0 then
            return (second + SECONDS - now) * 1000 - math.floor(tonumber(clock[2]) / 1000)
        end
    end
    return SECONDS * 1000
end

local windows = {}
local granted = requested
for i = 1, window_count do
    local limit, known, missed, copy = unpack(ARGV, i * 4, i * 4 + 3)
    local window = open_window(get(KEYS[i]))
    if copy ~= '' then
        restore_window(window, copy)
    elseif tonumber(known) ~= 0 and tonumber(known) ~= window.birth then
        return { -1, now }
    end
    window.limit = tonumber(limit)
    window.missed = tonumber(missed)
    window.is_changed = window.missed > 0 or copy ~= ''
    window.capacity = window.limit - window.total - window.missed
    granted = math.min(granted, window.capacity)
    windows[i] = window
end
granted = math.max(granted, 0)
if all_or_nothing and granted < requested then
    granted = 0
end

local wait = 0
local result = { granted, now, 0 }
for i, window in ipairs(windows) do
    if granted > 0 or window.is_changed then
        add_to_window(window, granted + window.missed)
        if window.birth == 0 then
            window.birth = (now * 1000000 + tonumber(clock[2])) % 4294967295 + 1
        end
        redis.call('SET', KEYS[i], write_window(window), 'EX', SECONDS)
    end
    if granted < requested then
        wait = math.max(wait, time_until_capacity(window, window.limit))
    end
    result[3 + i] = write_window(window)
end
result[3] = wait

if granted > 0 then
    for i = window_count + 1, #KEYS do
        result[3 + i] = read_entry(KEYS[i])
    end
end
return result
