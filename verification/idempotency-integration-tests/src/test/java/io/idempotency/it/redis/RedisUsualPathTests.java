package io.idempotency.it.redis;

import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

import io.idempotency.it.servers.Backend;
import io.idempotency.it.servers.RedisBinary;
import io.idempotency.it.servers.RedisServer;
import io.idempotency.it.servers.Requires;
import io.idempotency.it.store.Requests;
import io.idempotency.key.Fingerprint;
import io.idempotency.store.ClaimId;
import io.idempotency.store.ClaimRequest;
import io.idempotency.store.ClaimResult;
import io.idempotency.store.StoredResult;
import io.idempotency.store.redis.RedisIdempotencyStore;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import org.springframework.data.redis.connection.RedisConnection;
import org.springframework.data.redis.connection.ReturnType;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

/**
 * The parts of the scripts that answer the usual claims and completions at once: for
 * every record they reply and write what the scripts without them reply and write. The
 * clock of the server stands still here, so that the records are equal to the byte.
 */
@Requires(Backend.REDIS)
@TestInstance(Lifecycle.PER_CLASS)
class RedisUsualPathTests {

	private static final long NOW = 1_795_453_678_123_456L;

	private static final byte[] KEY = ascii("key");

	private static final byte[] OWN = new byte[] { 'O', 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };

	private static final byte[] OTHERS = new byte[] { 'P', 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 };

	private static final byte[] NOBODYS_ID = new byte[16];

	private static final String FINGERPRINT = "test1-fingerprint";

	private RedisServer server;

	private LettuceConnectionFactory factory;

	private RedisConnection connection;

	private List<byte[]> records;

	@BeforeAll
	void start() {
		this.server = RedisServer.start(RedisBinary.REDIS_6_2);
		this.factory = RedisClients.lettuce(this.server);
		this.connection = this.factory.getConnection();
		this.records = records(NOW, ascii(FINGERPRINT));
	}

	@AfterAll
	void stop() {
		this.connection.close();
		this.factory.destroy();
		this.server.close();
	}

	static Stream<Call> calls() {
		List<Call> calls = new ArrayList<>();
		for (byte[] id : List.of(OWN, OTHERS)) {
			for (String fingerprint : List.of(FINGERPRINT, FINGERPRINT.replace('t', 'u'), FINGERPRINT + "-longer",
					"")) {
				for (String once : List.of("0", "1")) {
					for (String takeOver : List.of("0", "1")) {
						for (String token : List.of("0", "1")) {
							boolean usual = once.equals("0") && token.equals("0");
							calls.add(claim(id, fingerprint, "86400000000", "86400000", takeOver,
									usual ? List.of() : List.of(once, token)));
						}
					}
				}
			}
			// The lease is longer than the retention, as in the mode LOCK.
			calls.add(claim(id, FINGERPRINT, "0", "30000", "1", List.of()));
			for (String state : List.of("D", "X", "T")) {
				for (String retention : List.of("86400000001", "5000000", "0")) {
					boolean answer = state.equals("D");
					byte[] millis = ascii(Long.toString((Long.parseLong(retention) + 999) / 1000));
					calls.add(new Call("complete", id, ascii(state), ascii(retention), millis,
							ascii(state.equals("X") ? "" : answer ? "\u0002h3" : "\0"),
							ascii(answer ? "an answer" : ""),
							ByteBuffer.allocate(8 + FINGERPRINT.length())
								.putLong(NOW - 1_000)
								.put(ascii(FINGERPRINT))
								.array(),
							ascii("10000000")));
				}
			}
		}
		return calls.stream();
	}

	private static Call claim(byte[] id, String fingerprint, String retention, String millis, String takeOver,
			List<String> more) {
		byte[] named = ascii((char) fingerprint.length() + fingerprint + "\u0006node-1");
		return new Call("claim",
				Stream
					.concat(Stream.of(id, named, ascii("30000000"), ascii(retention), ascii(millis), ascii(takeOver)),
							more.stream().map(RedisUsualPathTests::ascii))
					.toArray(byte[][]::new));
	}

	@ParameterizedTest
	@MethodSource("calls")
	void usualPartDecidesNothingOfItsOwn(Call call) {
		for (byte[] record : this.records) {
			Outcome usual = outcome(call, call.verb() + "-usual.lua", record);
			Outcome general = outcome(call, null, record);
			String of = call + " of " + ((record != null) ? HexFormat.of().formatHex(record) : "nothing");
			assertThat(usual.reply()).as(of).isEqualTo(general.reply());
			assertThat(usual.record()).as(of).isEqualTo(general.record());
			assertThat(usual.millis()).as(of).isCloseTo(general.millis(), within(5_000L));
		}
	}

	/** Otherwise this class would compare the general parts with themselves. */
	@Test
	void usualPartIsReached() {
		List<String> usual = new ArrayList<>();
		calls().forEach((call) -> {
			for (byte[] record : this.records) {
				List<?> reply = run(text("start.lua") + text(call.verb() + "-usual.lua") + "return { 'general' }", call,
						record);
				if (!reply.equals(List.of(HexFormat.of().formatHex(ascii("general"))))) {
					usual.add(call.verb() + " of " + ((record != null) ? Character.toString(record[1]) : "nothing"));
				}
			}
		});
		assertThat(usual).contains("claim of nothing", "claim of D", "complete of R")
			.isSubsetOf("claim of nothing", "claim of D", "complete of R");
	}

	/** A look reads a record without a script, and decides as the scripts do. */
	@Test
	void lookFindsWhatAClaimIsGivenAndNothingElse() {
		Fingerprint fingerprint = Fingerprint.of("test1").add("a").build();
		Fingerprint other = Fingerprint.of("test1").add("b").build();
		RedisIdempotencyStore store = new RedisIdempotencyStore(this.factory, "test:", RedisClients.PATIENT);
		ClaimRequest request = Requests.claim();
		byte[] name = ascii(RedisRecords.key(request.key()));
		List<byte[]> all = records(ChronoUnit.MICROS.between(Instant.EPOCH, Instant.now()), fingerprint.toBytes());
		int results = 0;
		for (byte[] record : all) {
			for (Fingerprint asked : List.of(fingerprint, other, Fingerprint.NONE)) {
				if (record != null) {
					this.connection.stringCommands().pSetEx(name, 1_000_000, record);
				}
				Optional<StoredResult> found = store.find(request.key(), asked).map(ClaimResult.Completed::result);
				ClaimResult claimed = store.claim(request.withFingerprint(asked).withClaimId(ClaimId.random()));
				assertThat(found).as("%s of %s", asked, (record != null) ? HexFormat.of().formatHex(record) : "nothing")
					.isEqualTo((claimed instanceof ClaimResult.Completed completed) ? Optional.of(completed.result())
							: Optional.empty());
				results += found.isPresent() ? 1 : 0;
				this.connection.keyCommands().del(name);
			}
		}
		assertThat(results).isPositive();
	}

	/** A server that was copied without the times to live must not give it for ever. */
	@Test
	void lookLeavesARecordThatIsOverButHasNotExpiredToTheScripts() {
		RedisIdempotencyStore store = new RedisIdempotencyStore(this.factory, "test:", RedisClients.PATIENT);
		ClaimRequest request = Requests.claim();
		byte[] name = ascii(RedisRecords.key(request.key()));
		this.connection.stringCommands()
			.set(name, record('D', 0, OWN, new byte[0], NOW, NOW, NOW - Duration.ofDays(30).toSeconds() * 1_000_000));
		assertThat(store.find(request.key(), Fingerprint.NONE)).isEmpty();
	}

	@Test
	void lookLeavesARecordThatIsCutOffToTheScripts() {
		RedisIdempotencyStore store = new RedisIdempotencyStore(this.factory, "test:", RedisClients.PATIENT);
		ClaimRequest request = Requests.claim();
		byte[] whole = record('D', 0, OWN, Fingerprint.of("test1").add("a").build().toBytes(), NOW, NOW,
				Long.MAX_VALUE);
		for (int length = 1; length < whole.length - "the first answer".length(); length++) {
			this.connection.stringCommands().set(ascii(RedisRecords.key(request.key())), Arrays.copyOf(whole, length));
			assertThat(store.find(request.key(), Fingerprint.NONE)).as("%s bytes", length).isEmpty();
		}
	}

	private Outcome outcome(Call call, String usual, byte[] record) {
		String script = text("start.lua") + ((usual != null) ? text(usual) : "") + text("record.lua")
				+ text(call.verb() + ".lua");
		List<?> reply = run(
				"local function verb()\n" + script + "\nend\n"
						+ "return { verb(), redis.call('GET', KEYS[1]) or '', redis.call('PTTL', KEYS[1]) }",
				call, record);
		return new Outcome(reply.get(0), reply.get(1), Long.parseLong((String) reply.get(2)));
	}

	private List<?> run(String script, Call call, byte[] record) {
		if (record != null) {
			this.connection.stringCommands().pSetEx(KEY, 1_000_000, record);
		}
		else {
			this.connection.keyCommands().del(KEY);
		}
		byte[][] keyAndArguments = new byte[call.arguments().length + 1][];
		keyAndArguments[0] = KEY;
		System.arraycopy(call.arguments(), 0, keyAndArguments, 1, call.arguments().length);
		return (List<?>) readable(this.connection.scriptingCommands()
			.eval(script.getBytes(StandardCharsets.UTF_8), ReturnType.MULTI, 1, keyAndArguments));
	}

	private static Object readable(Object reply) {
		if (reply instanceof List<?> list) {
			return list.stream().map(RedisUsualPathTests::readable).toList();
		}
		return (reply instanceof byte[] bytes) ? HexFormat.of().formatHex(bytes) : String.valueOf(reply);
	}

	/** Returns a part of a script whose clock stands still. */
	private static String text(String resource) {
		try (InputStream in = RedisIdempotencyStore.class.getResourceAsStream(resource)) {
			String text = new String(in.readAllBytes(), StandardCharsets.UTF_8);
			return text.replace("redis.call('TIME')", "{ '" + NOW / 1_000_000 + "', '" + NOW % 1_000_000 + "' }");
		}
		catch (IOException ex) {
			throw new AssertionError(resource, ex);
		}
	}

	/** A record in each state, live and at its end, owned by each. */
	private static List<byte[]> records(long now, byte[] fingerprint) {
		List<byte[]> records = new ArrayList<>();
		records.add(null);
		for (char state : "IRXDTO".toCharArray()) {
			for (int flags : (state == 'R') ? List.of(0, 1, 3) : List.of(0)) {
				for (byte[] id : (state == 'I') ? List.of(NOBODYS_ID) : List.of(OWN, OTHERS)) {
					for (long leaseUntil : List.of(now, now + 20_000_000, now + 90_000_000_000L)) {
						for (long keptUntil : List.of(now, now + 80_000_000_000L)) {
							records.add(record(state, flags, id, fingerprint, now - 1_000, leaseUntil, keptUntil));
						}
					}
				}
			}
		}
		return records;
	}

	private static byte[] record(char state, int flags, byte[] id, byte[] first, long fencingToken, long leaseUntil,
			long keptUntil) {
		byte[] fingerprint = (state == 'I' || state == 'O') ? new byte[0] : first;
		boolean done = state == 'D' || state == 'T';
		ByteBuffer record = ByteBuffer.allocate(300).put((byte) 3).put((byte) state);
		if (done) {
			record.put(id, 8, 8).putLong(fencingToken).putLong(keptUntil);
		}
		else {
			record.put((byte) flags)
				.put(id)
				.putLong(fencingToken)
				.putLong(leaseUntil)
				.putLong(keptUntil)
				.putLong((state == 'I') ? keptUntil : 0)
				.putLong((state == 'O') ? 1 : 0);
		}
		byte[] origin = ascii("node-7");
		record.put((byte) fingerprint.length).put(fingerprint).put((byte) origin.length).put(origin);
		if (done) {
			byte[] format = ascii((state == 'D') ? "h3" : "");
			record.put((byte) format.length).put(format).put(ascii((state == 'D') ? "the first answer" : ""));
		}
		byte[] bytes = new byte[record.position()];
		record.flip().get(bytes);
		return bytes;
	}

	private static byte[] ascii(String text) {
		return text.getBytes(StandardCharsets.US_ASCII);
	}

	/**
	 * One call of a script.
	 *
	 * @param verb its name
	 * @param arguments what comes after the key
	 */
	record Call(String verb, byte[]... arguments) {

		@Override
		public String toString() {
			StringBuilder text = new StringBuilder(this.verb);
			for (byte[] argument : this.arguments) {
				text.append(' ').append(new String(argument, StandardCharsets.US_ASCII).replaceAll("[^ -~]", ""));
			}
			return text.toString();
		}

	}

	/**
	 * What a script did.
	 *
	 * @param reply what it replied
	 * @param record what is stored now
	 * @param millis for how long it is stored
	 */
	private record Outcome(Object reply, Object record, long millis) {
	}

}
