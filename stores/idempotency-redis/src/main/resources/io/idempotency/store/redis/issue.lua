-- ARGV: time to live
-- Replies the time at which the record expires.
if record then
	return keptUntil(record)
end
local untilTime = now + tonumber(ARGV[1])
write({ state = ISSUED, fence = 0, keptUntil = untilTime, tokenUntil = untilTime, fingerprint = '', origin = '' })
return untilTime
