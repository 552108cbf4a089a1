package io.idempotency.store.redis;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

import org.springframework.core.io.ClassPathResource;
import org.springframework.data.redis.connection.ReturnType;
import org.springframework.data.redis.core.script.DigestUtils;

/**
 * The operations of the store, each with its Lua script.
 */
enum RedisScript {

	CLAIM(ReturnType.VALUE, "claim-usual.lua", "record.lua"),

	COMPLETE(ReturnType.INTEGER, "complete-usual.lua", "record.lua"),

	RELEASE(ReturnType.INTEGER, "record.lua"),

	RENEW(ReturnType.INTEGER, "record.lua"),

	ISSUE(ReturnType.INTEGER, "record.lua"),

	FIND(ReturnType.MULTI, "record.lua"),

	SCAN(ReturnType.MULTI, "record.lua"),

	EVICT(ReturnType.INTEGER, "record.lua");

	private final ReturnType returnType;

	private final String text;

	private final String sha1;

	/**
	 * Creates an operation.
	 * @param parts the parts between the start of the script and its specific part
	 */
	RedisScript(ReturnType returnType, String... parts) {
		this.returnType = returnType;
		this.text = read("start.lua") + Arrays.stream(parts).map(RedisScript::read).collect(Collectors.joining())
				+ read(toString() + ".lua");
		this.sha1 = DigestUtils.sha1DigestAsHex(this.text);
	}

	private static String read(String resource) {
		try {
			return new ClassPathResource(resource, RedisScript.class).getContentAsString(StandardCharsets.UTF_8);
		}
		catch (IOException ex) {
			throw new UncheckedIOException(ex);
		}
	}

	ReturnType returnType() {
		return this.returnType;
	}

	String text() {
		return this.text;
	}

	byte[] script() {
		return this.text.getBytes(StandardCharsets.UTF_8);
	}

	String sha1() {
		return this.sha1;
	}

	/** Returns the operation as it appears in messages. */
	@Override
	public String toString() {
		return name().toLowerCase(Locale.ROOT);
	}

}
