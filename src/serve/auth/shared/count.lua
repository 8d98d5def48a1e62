-- Counts one request of an account in its three windows, or in none of them when one is full. Returns what is counted then.
-- The rules are those of `contract::usage`; what remains, and how long to wait, is computed there.
--
-- KEYS[1]  the account's hash
-- ARGV     1: milliseconds since 1970, or empty for the store's own time. 2 to 4: the limits of a minute, a day and a month.
--          5: the id of the key. 6: how many keys are remembered. 7 to 16: five days, each its start and that of its month.
local now = tonumber(ARGV[1])
if not now then
  local time = redis.call('TIME')
  now = time[1] * 1000 + math.floor(time[2] / 1000)
end

local today
for start = 7, 13, 2 do
  if now >= tonumber(ARGV[start]) and now < tonumber(ARGV[start + 2]) then
    today = start
  end
end
if not today then
  return redis.error_reply('CLOCK ' .. string.format('%.0f', now))
end
local day, month = tonumber(ARGV[today]), tonumber(ARGV[today + 1])
local tomorrow, month_of_tomorrow = tonumber(ARGV[today + 2]), tonumber(ARGV[today + 3])

local fields = { 'minute_since', 'minute', 'day_on', 'day', 'month_on', 'month' }
local stored = redis.call('HMGET', KEYS[1], unpack(fields))
for field = 1, 6 do
  stored[field] = tonumber(stored[field]) or 0
end
-- Counted by a clock that was ahead.
local is_reset = stored[3] > tomorrow or stored[5] > month_of_tomorrow
if is_reset then
  stored = { 0, 0, 0, 0, 0, 0 }
end
if stored[1] > now or stored[1] + 60000 <= now then
  stored[1], stored[2] = now, 0
end
if stored[3] < day then
  stored[3], stored[4] = day, 0
end
if stored[5] < month then
  stored[5], stored[6] = month, 0
end

local is_admitted = true
for window = 1, 3 do
  is_admitted = is_admitted and stored[window * 2] < tonumber(ARGV[window + 1])
end
if is_admitted then
  local new = { 'key:' .. ARGV[5], math.floor(now / 1000) }
  for field = 1, 6 do
    if field % 2 == 0 then
      stored[field] = stored[field] + 1
    end
    table.insert(new, fields[field])
    table.insert(new, stored[field])
  end
  redis.call('HSET', KEYS[1], unpack(new))
  if redis.call('HLEN', KEYS[1]) > 6 + tonumber(ARGV[6]) then
    local all, oldest, used = redis.call('HGETALL', KEYS[1]), nil, nil
    for field = 1, #all, 2 do
      local at = tonumber(all[field + 1])
      if string.sub(all[field], 1, 4) == 'key:' and (not oldest or at < used) then
        oldest, used = all[field], at
      end
    end
    redis.call('HDEL', KEYS[1], oldest)
  end
  -- Nine days after the month's end, or more.
  redis.call('PEXPIRE', KEYS[1], month + 40 * 86400000 - now)
end
return { now, is_admitted and 1 or 0, is_reset and 1 or 0, unpack(stored) }
