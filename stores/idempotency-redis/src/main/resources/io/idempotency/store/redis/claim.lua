-- ARGV: claim id, fingerprint, once, lease, retention, may take over, token, origin
-- Replies { answer, number, ... }, which RedisReplies reads.
local ACQUIRED, ACQUIRED_ABANDONED, IN_PROGRESS, COMPLETED, GONE, MISMATCH, REFUSED, DUPLICATE, UNKNOWN_TOKEN
	= 1, 2, 3, 4, 5, 6, 7, 8, 9

local id, fingerprint, once = ARGV[1], ARGV[2], ARGV[3] == '1'
local lease, retention, mayTakeOver, token = tonumber(ARGV[4]), tonumber(ARGV[5]), ARGV[6] == '1', ARGV[7] == '1'
local origin = ARGV[8]

local function run(last, flags)
	local fence = now
	if last then
		fence = math.max(now, last.fence + 1)
	end
	write({
		state = RUNNING, flags = flags, id = id, fence = fence, leaseUntil = now + lease,
		keptUntil = now + retention, tokenUntil = last and last.tokenUntil, fingerprint = fingerprint, origin = origin
	})
	if flags == ABANDONED then
		return { ACQUIRED_ABANDONED, fence, last.origin }
	end
	return { ACQUIRED, fence }
end

local function runOnce(last)
	local fence = now
	if last then
		fence = math.max(now, last.fence + 1)
	end
	write({
		state = ONCE, id = id, fence = fence, keptUntil = now + retention, tokenUntil = last and last.tokenUntil,
		attempts = 1, fingerprint = '', origin = origin
	})
	return { ACQUIRED, fence }
end

if not record and token then
	return { UNKNOWN_TOKEN, 0 }
end

if not record or record.state == ISSUED then
	if once then
		return runOnce(record)
	end
	return run(record, 0)
end

if record.state == ONCE then
	if not once then
		return { GONE, 0 }
	end
	if record.id == id then
		touch(record)
		return { ACQUIRED, record.fence }
	end
	record.attempts = record.attempts + 1
	write(record)
	return { DUPLICATE, record.attempts }
end

if once then
	return { DUPLICATE, 2 }
end

if record.state == RUNNING and owns(record, id) then
	record.leaseUntil = now + lease
	write(record)
	-- The record holds the origin of this claim by now.
	return { record.flags == ABANDONED and ACQUIRED_ABANDONED or ACQUIRED, record.fence, '' }
end

-- An empty fingerprint matches every other one.
if record.fingerprint ~= '' and fingerprint ~= '' and record.fingerprint ~= fingerprint then
	return { MISMATCH, 0 }
end

if record.state == RUNNING then
	if record.flags ~= NOBODYS and now < record.leaseUntil then
		return { IN_PROGRESS, record.leaseUntil - now }
	end
	if not mayTakeOver then
		return { REFUSED, 0 }
	end
	return run(record, ABANDONED)
end

if record.state == EXECUTED and now < record.leaseUntil then
	return { IN_PROGRESS, record.leaseUntil - now }
end

if record.state == RESULT then
	return { COMPLETED, record.keptUntil - now, record.format, redis.call('GETRANGE', key, record.bodyAt - 1, -1),
		record.origin }
end

return { GONE, 0 }
