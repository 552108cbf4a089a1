-- Reads and writes the record of the key.
--
-- A record is one string: a head that the operations read and write, then the body of a result. It is a
-- string and not a hash for three reasons. One SET replaces record and expiry together, so an
-- operation writes with exactly one command, and no write is half done when memory runs out. An
-- operation reads only the head unless it needs the result. Head and body together take one key and one allocation.
--
--   version | state | flags | claim id (16) | fence | lease until | kept until | token until | attempts
--   | length and fingerprint | length and origin
--
-- and when it is completed, with or without a result:
--
--   version | state | end of the claim id (8) | fence | kept until
--   | length and fingerprint | length and origin | length and format | body
--
-- A completed record needs the claim id only to recognize a repeated completion, for which half of
-- the id is enough. Values with a length prefix in a record also have it in arguments and replies, so
-- that the usual calls only concatenate strings.
local VERSION = 3
local LAYOUT = '>Bc1Bc16I8I8I8I8I8Bc0Bc0'
local DONE = '>Bc1c8I8I8Bc0Bc0'
local MAX_HEAD = 207

local ISSUED, RUNNING, EXECUTED, RESULT, TOMBSTONE, ONCE = 'I', 'R', 'X', 'D', 'T', 'O'
local ABANDONED, NOBODYS = 1, 3
local NO_ID = string.rep('\0', 16)

local function keptUntil(record)
	if record.state == RUNNING then
		return math.max(record.leaseUntil, record.keptUntil)
	end
	return record.keptUntil
end

local function isDone(state)
	return state == RESULT or state == TOMBSTONE
end

local function write(record, result)
	local head
	if isDone(record.state) then
		head = struct.pack(DONE, VERSION, record.state, string.sub(record.id, -8), record.fence, record.keptUntil,
			#record.fingerprint, record.fingerprint, #record.origin, record.origin)
	else
		head = struct.pack(LAYOUT, VERSION, record.state, record.flags or 0, record.id or NO_ID, record.fence,
			record.leaseUntil or 0, record.keptUntil, record.tokenUntil or 0, record.attempts or 0,
			#record.fingerprint, record.fingerprint, #record.origin, record.origin)
	end
	local millis = math.max(1, math.ceil((keptUntil(record) - now) / 1000))
	redis.call('SET', key, head .. (result or ''), 'PX', string.format('%.0f', millis))
end

local function owns(record, id)
	return record.id == id and record.flags ~= NOBODYS
end

-- The live record, or nil.
local record = nil
stored = stored or redis.call('GETRANGE', key, 0, MAX_HEAD - 1)
if stored ~= '' then
	local version = string.byte(stored)
	if version ~= VERSION then
		return redis.error_reply('IDEMPOTENCY a record of version ' .. version .. ' cannot be read')
	end
	record = { state = string.sub(stored, 2, 2) }
	local _
	if isDone(record.state) then
		_, _, record.id, record.fence, record.keptUntil, record.fingerprint, record.origin = struct.unpack(DONE, stored)
	else
		_, _, record.flags, record.id, record.fence, record.leaseUntil, record.keptUntil, record.tokenUntil,
			record.attempts, record.fingerprint, record.origin = struct.unpack(LAYOUT, stored)
	end
	if now >= keptUntil(record) then
		record = nil
	end
end
