-- Sliding windows and the exact entries of a batch, in one atomic step.
-- KEYS: the windows, then the entries to read. All share one hash tag, so one cluster slot.
-- ARGV: how many requests ask, how many windows there are, what all names begin with, then the limit of each window.
-- Returns: how many may pass, the second they were counted in, milliseconds until one more could pass (0: at once), the total of
-- each window, then the entries (none when no request may pass).
--
-- A window is a string: total, last second written, and 61 counts, one a second, each 4 bytes. A request counts from its second
-- until 61 whole seconds later, so no interval of 60 seconds can hold more than the limit, whatever its phase.
local SECONDS = 61
local EMPTY = string.rep('\0', SECONDS * 4)

local clock = redis.call('TIME')
local now = tonumber(clock[1])
local wanted = tonumber(ARGV[1])
local window_count = tonumber(ARGV[2])

-- A key of another type, which no version of ours writes, is taken for none: it must not take the store away from everybody.
local function get(key)
    local stored = redis.pcall('GET', key)
    return type(stored) == 'string' and stored or false
end

-- An entry may be an alias: its first line names the entry that has the response. Then both are given, one behind the other.
local function read_entry(key)
    local stored = get(key)
    local target = stored and string.match(stored, '^%[2,"([^"]+)"')
    if not target then
        return stored
    end
    local entry = get(ARGV[3] .. target)
    return entry and stored .. entry
end

-- Total and counts of a window as of now: what is older than it is taken out.
local function open_window(key)
    local stored = get(key)
    if not stored or #stored ~= 8 + #EMPTY then
        return { total = 0, counts = EMPTY }
    end
    local total, last = struct.unpack('>I4I4', stored)
    local counts = string.sub(stored, 9)
    if now - last >= SECONDS then
        return { total = 0, counts = EMPTY }
    end
    for second = last + 1, now do
        local at = second % SECONDS * 4
        local count = struct.unpack('>I4', counts, at + 1)
        if count > 0 then
            total = total - count
            counts = string.sub(counts, 1, at) .. '\0\0\0\0' .. string.sub(counts, at + 5)
        end
    end
    return { total = total, counts = counts }
end

local function add_to_window(key, window, requests)
    local at = now % SECONDS * 4
    local count = struct.unpack('>I4', window.counts, at + 1) + requests
    window.total = window.total + requests
    window.counts = string.sub(window.counts, 1, at) .. struct.pack('>I4', count) .. string.sub(window.counts, at + 5)
    redis.call('SET', key, struct.pack('>I4I4', window.total, now) .. window.counts, 'EX', SECONDS)
end

-- Milliseconds until the window has let go of enough for one more request.
local function wait_for_room(window, limit)
    local over = window.total + 1 - limit
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
    windows[i] = open_window(KEYS[i])
    granted = math.min(granted, tonumber(ARGV[3 + i]) - windows[i].total)
end
granted = math.max(granted, 0)

local wait = 0
local result = { granted, now, 0 }
for i = 1, window_count do
    if granted > 0 then
        add_to_window(KEYS[i], windows[i], granted)
    end
    if granted < wanted then
        wait = math.max(wait, wait_for_room(windows[i], tonumber(ARGV[3 + i])))
    end
    result[3 + i] = windows[i].total
end
result[3] = wait

if granted > 0 then
    for i = window_count + 1, #KEYS do
        result[3 + i] = read_entry(KEYS[i])
    end
end
return result
