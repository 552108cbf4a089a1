-- Answers the two usual claims at once: the first claim of a key, and one that finds the result. All
-- others go on to claim.lua, whose rules these are. This part makes no table and no function, which
-- takes a third off the time of the whole script. The positions are those of record.lua.
if ARGV[3] == '0' and ARGV[7] == '0' then
	local fingerprint = ARGV[2]
	stored = redis.call('GET', key)
	if not stored then
		local origin, leaseUntil, keptUntil = ARGV[8], now + ARGV[4], now + ARGV[5]
		redis.call('SET', key, struct.pack('>Bc1Bc16I8I8I8I8I8Bc0Bc0', 3, 'R', 0, ARGV[1], now, leaseUntil, keptUntil,
			0, 0, #fingerprint, fingerprint, #origin, origin),
			'PX', math.ceil((math.max(leaseUntil, keptUntil) - now) / 1000))
		return { 1, now }
	end
	local originAt = 28 + #fingerprint
	if string.sub(stored, 1, 2) == '\3D' and string.sub(stored, 27, originAt - 1) == string.char(#fingerprint) .. fingerprint then
		local rest = struct.unpack('>I8', stored, 19) - now
		if rest > 0 then
			local origin, format, bodyAt = struct.unpack('>Bc0Bc0', stored, originAt)
			return { 4, rest, format, string.sub(stored, bodyAt), origin }
		end
	end
end

