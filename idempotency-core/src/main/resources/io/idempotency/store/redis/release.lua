-- ARGV: claim id
-- Replies 1 if accepted, 0 if refused.
local id = ARGV[1]

if not record or record.state == ISSUED then
	return 1
end

if record.state == RUNNING then
	if record.flags == NOBODYS then
		-- There is no claim to give back: this may be the second time it is sent.
		return 1
	end
	if record.id ~= id then
		return 0
	end
	if record.flags == ABANDONED then
		-- The effect of a dead owner is not washed away by a successor that failed.
		record.flags = NOBODYS
		record.leaseUntil = now
		write(record)
		return 1
	end
elseif record.state ~= ONCE or record.id ~= id then
	return 0
end

if now < record.tokenUntil then
	write({
		state = ISSUED, fence = record.fence, keptUntil = record.tokenUntil, tokenUntil = record.tokenUntil,
		fingerprint = '', format = ''
	})
else
	redis.call('DEL', key)
end
return 1
