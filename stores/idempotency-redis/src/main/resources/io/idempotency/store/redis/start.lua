-- The start of every script. Times are microseconds of this server's clock; a double holds them
-- exactly until the year 2255.
local key = KEYS[1]
local time = redis.call('TIME')
local now = time[1] * 1000000 + time[2]

-- The record as it is stored, or at least its head; nil until it has been read.
local stored

