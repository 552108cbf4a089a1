package io.idempotency.store.redis;

import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import io.idempotency.key.IdempotencyKey;
import io.idempotency.store.RecordKey;
import io.idempotency.store.RecordSelection;
import org.jspecify.annotations.Nullable;

/**
 * Names of records: {@code {prefix}{namespace}:{operation}:{hash}}, without a namespace
 * {@code {prefix}{operation}:{hash}}. The hash alone is the identity. Namespace and
 * operation are for operators who read the names or search all keys of one operation.
 */
final class RedisKeyspace {

	/** The characters that have a meaning in a pattern. */
	private static final Pattern SPECIAL = Pattern.compile("[*?\\[\\]^\\\\-]");

	private static final Pattern NAME = Pattern.compile("(.*):([0-9a-f]{64})", Pattern.DOTALL);

	private final String prefix;

	RedisKeyspace(String prefix) {
		this.prefix = prefix;
	}

	byte[] key(IdempotencyKey key) {
		return name(key.label(), key.hashHex());
	}

	byte[] key(RecordKey key) {
		return name(key.label(), key.hash());
	}

	private byte[] name(String label, String hash) {
		return (this.prefix + readable(label) + ":" + hash).getBytes(StandardCharsets.UTF_8);
	}

	/**
	 * Returns a name that no record has. In a cluster, the names for different numbers
	 * belong to different slots, unless the prefix puts all records into one slot.
	 */
	byte[] route(int number) {
		return (this.prefix + number).getBytes(StandardCharsets.UTF_8);
	}

	/** Returns the pattern of the selected names, which the {@code SCAN} compares. */
	byte[] pattern(RecordSelection selection) {
		String label = (selection.label() != null) ? literally(readable(selection.label())) : "*";
		String caller = (selection.caller() != null) ? selection.caller().toString() : "";
		return (literally(this.prefix) + label + ":" + caller + "*").getBytes(StandardCharsets.UTF_8);
	}

	private static String literally(String text) {
		return SPECIAL.matcher(text).replaceAll("\\\\$0");
	}

	/**
	 * Reads a name.
	 * @return the key of the record, or {@code null} if the name does not belong to a
	 * selected record
	 */
	@Nullable RecordKey read(byte[] name, RecordSelection selection) {
		String text = new String(name, StandardCharsets.UTF_8);
		Matcher matcher = NAME.matcher(text.startsWith(this.prefix) ? text.substring(this.prefix.length()) : "");
		if (!matcher.matches()) {
			return null;
		}
		RecordKey key = new RecordKey(matcher.group(1), matcher.group(2));
		boolean selected = (selection.label() == null || readable(selection.label()).equals(key.label()))
				&& (selection.caller() == null || selection.caller().equals(key.caller()));
		return selected ? key : null;
	}

	/**
	 * Replaces characters that do harm in a name: braces would put all records of an
	 * operation into one slot of a cluster; blanks and control characters would break
	 * listings.
	 */
	private static String readable(String label) {
		StringBuilder readable = null;
		for (int i = 0; i < label.length(); i++) {
			char c = label.charAt(i);
			if (c == '{' || c == '}' || Character.isWhitespace(c) || Character.isISOControl(c)) {
				readable = (readable != null) ? readable : new StringBuilder(label);
				readable.setCharAt(i, '_');
			}
		}
		return (readable != null) ? readable.toString() : label;
	}

}
