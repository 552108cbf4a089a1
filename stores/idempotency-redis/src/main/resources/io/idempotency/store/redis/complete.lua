-- ARGV: claim id, state to write, retention, milliseconds of it, length and format, body, fencing
-- token and fingerprint; for executed work also: attach within
-- Replies 1 if accepted, 0 if rejected.
local id, state, retention = ARGV[1], ARGV[2], tonumber(ARGV[3])
local fence, fingerprint = struct.unpack('>I8', ARGV[7]), string.sub(ARGV[7], 9)
local attachWithin = tonumber(ARGV[8] or 0)

local claimed = record and record.state ~= ISSUED

if not claimed then
	-- A late success is stored if its claim is younger than the retention. The fencing token is the
	-- time of the claim.
	if retention > 0 and now >= fence + retention then
		return 0
	end
elseif record.state == ONCE then
	return 0
elseif record.state == RUNNING and record.flags == NOBODYS then
	-- The owner whose lease expired may have had another request.
	if record.fingerprint ~= fingerprint then
		return 0
	end
elseif record.id ~= string.sub(id, -#record.id) then
	return 0
elseif record.state == RESULT or record.state == TOMBSTONE then
	return 1
end

if retention == 0 then
	redis.call('DEL', key)
	return 1
end

write({
	state = state, id = id, fence = claimed and record.fence or fence, leaseUntil = now + math.min(attachWithin, retention), keptUntil = now + retention,
	fingerprint = claimed and record.fingerprint or fingerprint, origin = claimed and record.origin or ''
}, ARGV[5] .. ARGV[6])
return 1
