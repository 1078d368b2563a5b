-- Sliding windows and the exact entries of a batch, in one atomic step.
-- KEYS: the windows, then the entries to read. All share one hash tag, and so one cluster slot.
-- ARGV: the number of requests (negative: all of them are to pass, or none), the number of windows, the prefix of all names, then for each window: its limit; the birth of the
-- window that the caller knows (0 for none); requests that passed uncounted while the caller could not reach Redis; and, to restore
-- a lost window, the window as the caller last saw it (else empty).
-- Returns: how many may pass, the second they were counted in, milliseconds until one more, or all, could pass (0 for now), each window,
-- then the entries (none when no request may pass). Or -1 with nothing changed, when a window is not the one that the caller knows:
-- a restart, a flush or an eviction lost it, and the caller must ask again with what it remembers.
--
-- A window is a string: total, last second written, birth, and 61 counts, one per second, each 4 bytes. A request counts from its
-- second until 61 whole seconds later, so no interval of 60 seconds can contain more than the limit, whatever its phase.
local SECONDS = 61
local HEAD = 12
local SIZE = HEAD + SECONDS * 4
local EMPTY = string.rep('\0', SECONDS * 4)

local clock = redis.call('TIME')
local now = tonumber(clock[1])
local wanted = math.abs(tonumber(ARGV[1]))
local is_whole = tonumber(ARGV[1]) < 0
local window_count = tonumber(ARGV[2])

-- A key of another type, which no release writes, counts as missing: it must not fail every request.
local function get(key)
    local stored = redis.pcall('GET', key)
    return type(stored) == 'string' and stored or false
end

-- Length of the integrity tag before an entry: TAG_BYTES of entry-tags.ts.
local TAG = 28

-- An entry may be an alias: its first line names the entry with the response. Then both are returned, concatenated.
local function read_entry(key)
    local stored = get(key)
    local target = stored and string.match(stored, '^%[3,"([^"]+)"', TAG + 1)
    if not target then
        return stored
    end
    local entry = get(ARGV[3] .. target)
    return entry and stored .. entry
end

-- Total, counts and birth of a stored window, without the seconds that are too old by now. One that ends in the future was written before
-- the clock stepped back: by less than its length, it is taken to end now; by more, it is a lost one, since nobody here can tell its age.
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

-- Each caller remembers a part of a lost window: the highest count that any of them saw is kept for each second.
local function bring_back(window, remembered)
    local seen = open_window(remembered)
    local counts = {}
    window.total = 0
    for at = 0, SECONDS - 1 do
        local ours = struct.unpack('>I4', window.counts, at * 4 + 1)
        local theirs = struct.unpack('>I4', seen.counts, at * 4 + 1)
        local count = math.max(ours, theirs)
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

-- Milliseconds until the window has room for one more request, or for all that are to pass together.
local function wait_for_room(window, limit)
    local over = window.total + (is_whole and wanted or 1) - limit
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
local granted = wanted
for i = 1, window_count do
    local limit, known, missed, remembered = unpack(ARGV, i * 4, i * 4 + 3)
    local window = open_window(get(KEYS[i]))
    if remembered ~= '' then
        bring_back(window, remembered)
    elseif tonumber(known) ~= 0 and tonumber(known) ~= window.birth then
        return { -1, now }
    end
    window.limit = tonumber(limit)
    window.missed = tonumber(missed)
    window.is_changed = window.missed > 0 or remembered ~= ''
    window.room = window.limit - window.total - window.missed
    granted = math.min(granted, window.room)
    windows[i] = window
end
granted = math.max(granted, 0)
if is_whole and granted < wanted then
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
    if granted < wanted then
        wait = math.max(wait, wait_for_room(window, window.limit))
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
