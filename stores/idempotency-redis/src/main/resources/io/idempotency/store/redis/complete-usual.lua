-- Ends the usual claim at once: it is running, and no other call ever took it over. All others go on
-- to complete.lua, whose rules these are; see claim-usual.lua.
stored = redis.call('GETRANGE', key, 0, 206)
if ARGV[5] ~= '0' and string.sub(stored, 1, 19) == '\3R\0' .. ARGV[1] and now < struct.unpack('>I8', stored, 36) then
	local retention, format = tonumber(ARGV[5]), ARGV[7]
	local done
	if ARGV[4] == 'X' then
		done = '\3X' .. string.sub(stored, 3, 27)
			.. struct.pack('>I8I8I8I8', now + math.min(ARGV[6], retention), now + retention, 0, 0)
			.. string.sub(stored, 60)
	else
		done = '\3' .. ARGV[4] .. string.sub(stored, 12, 27) .. struct.pack('>I8', now + retention)
			.. string.sub(stored, 60) .. string.char(#format) .. format .. ARGV[8]
	end
	redis.call('SET', key, done, 'PX', math.ceil(retention / 1000))
	return 1
end

