package io.idempotency.it.jdbc;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;

import io.idempotency.it.client.Answer;
import io.idempotency.it.client.Client;
import io.idempotency.it.servers.OtherJvm;
import io.idempotency.it.servers.SqlDatabase;
import io.idempotency.it.servers.StoreAlone;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.test.util.AopTestUtils;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

/**
 * Answers that commit with their work where the transaction has settings of its own,
 * where the commit itself checks a constraint, and where the JVM is killed between the
 * end of the handler and the last byte: done with its answer, or not done.
 */
@StoreAlone
@EachDatabase(value = {}, and = Database.POSTGRESQL_18)
class CommitTests {

	/** More than the buffers of both ends of a connection take. */
	private static final int LARGE = 12_000_000;

	private static final int TOO_LARGE = 18_000_000;

	private final String ref = UUID.randomUUID().toString();

	private final List<String> properties;

	private final JdbcTemplate jdbc;

	private final CommitApplication.Payments payments;

	private final Client client;

	private final int before;

	CommitTests(TestDatabase database) {
		this.properties = properties(database.plain());
		this.jdbc = database.jdbc();
		ConfigurableApplicationContext application = database.share("application", () -> {
			this.jdbc.execute(CommitApplication.TABLE);
			return new SpringApplicationBuilder(CommitApplication.class).registerShutdownHook(false)
				.run(this.properties.toArray(String[]::new));
		});
		this.payments = AopTestUtils.getTargetObject(application.getBean(CommitApplication.Payments.class));
		this.before = this.payments.runs.get();
		this.client = new Client(
				Integer.parseInt(application.getEnvironment().getRequiredProperty("local.server.port")));
	}

	private static List<String> properties(SqlDatabase database) {
		return List.of("--server.port=0", "--test.database.url=" + database.url(),
				"--test.database.port=" + database.port(), "--test.database.user=" + database.user(),
				"--idempotency.store=jdbc", "--idempotency.http.max-response-size=15MB");
	}

	/** What the method wants to read only is read in a transaction that writes. */
	@Test
	void recordOfAMethodThatReadsOnlyIsWritten() {
		assertReplay(assertPaid(post("/read-only")), post("/read-only"));
		assertThat(runs()).isEqualTo(1);
	}

	@Test
	void statementThatOutlivesItsTransactionRollsBackAndFreesTheKey() {
		for (int i = 1; i <= 2; i++) {
			assertRejected(post("/too-long?asks=true"), "late");
			assertThat(runs()).isEqualTo(i);
		}
		assertThat(rows()).isZero();
	}

	/** The time is that of statements, with and without a record. */
	@Test
	void handlerThatOutlivesItsTransactionWithoutAStatementIsDone() {
		String path = "/too-long?asks=false";
		assertReplay(assertPaid(post(path)), post(path));
		assertThat(runs()).isEqualTo(1);
		assertThat(rows()).isEqualTo(1);
	}

	@ParameterizedTest
	@ValueSource(strings = { "/reject", "/reject/rollback-for", "/reject/no-rollback-for" })
	void exceptionRollsBackWhateverTheTransactionSays(String path) {
		for (int i = 1; i <= 2; i++) {
			assertRejected(post(path), "rejected");
			assertThat(runs()).isEqualTo(i);
		}
		assertThat(rows()).isZero();
	}

	@Test
	void constraintThatTheCommitChecksIsTheFailureOfTheHandler() {
		this.jdbc.update("insert into payment (ref, note) values (?, 'an earlier one')", this.ref);
		for (int i = 1; i <= 2; i++) {
			assertRejected(post("/pay"), "taken");
			assertThat(runs()).isEqualTo(i);
		}
		assertThat(rows()).isEqualTo(1);
		this.jdbc.update("delete from payment where ref = ?", this.ref);
		assertReplay(assertPaid(post("/pay")), post("/pay"));
		assertThat(rows()).isEqualTo(1);
	}

	/** The session is there, and nobody would tell its client later. */
	@Test
	void cookieOfASessionOutlivesTheAnswerThatIsThrownAway() {
		this.jdbc.update("insert into payment (ref, note) values (?, 'an earlier one')", this.ref);
		Answer answer = post("/pay-in-a-session");
		assertRejected(answer, "taken");
		assertThat(answer.headers().entrySet()).filteredOn((header) -> header.getKey().equalsIgnoreCase("Set-Cookie"))
			.flatExtracting(Map.Entry::getValue)
			.singleElement(InstanceOfAssertFactories.STRING)
			.startsWith("JSESSIONID=");
	}

	@Test
	void duplicateThatTheCommitTellsIsLookedUpAndKept() {
		this.jdbc.update("insert into payment (ref, note) values (?, 'an earlier one')", this.ref);
		Answer first = post("/pay-or-find");
		assertThat(first.text()).isEqualTo("found an earlier one");
		assertThat(first.status()).isEqualTo(200);
		assertThat(first.header("X-Payment")).isNull();
		assertThat(first.header("X-Found")).isEqualTo(this.ref);
		assertReplay(first, post("/pay-or-find"));
		assertThat(runs()).isEqualTo(1);
		assertThat(rows()).isEqualTo(1);
	}

	@Test
	void resultThatIsLookedUpIsRenderedLikeThatOfTheHandler() {
		this.jdbc.update("insert into payment (ref, note) values (?, 'an earlier one')", this.ref);
		Answer first = post("/pay-or-find-object");
		assertThat(first.text()).isEqualTo("{\"note\":\"found an earlier one\"}");
		assertThat(first.status()).isEqualTo(202);
		assertThat(first.header("Content-Type")).isEqualTo("application/json");
		assertReplay(first, post("/pay-or-find-object"));
		assertThat(runs()).isEqualTo(1);
	}

	@ParameterizedTest
	@ValueSource(strings = { "/pay", "/pay-or-find" })
	void answerCommitsWithTheWork(String path) {
		this.payments.stateAfterCommit = null;
		Answer first = assertPaid(post(path));
		assertThat(this.payments.stateAfterCommit).isEqualTo("D");
		assertReplay(first, post(path));
		assertThat(runs()).isEqualTo(1);
	}

	@Test
	void deathBeforeTheCommitLeavesNothingDone() {
		String path = "/pay?death=BEFORE_THE_COMMIT";
		try (OtherJvm other = start()) {
			assertThatExceptionOfType(UncheckedIOException.class)
				.isThrownBy(() -> clientOf(other).post(path + "&ref=" + this.ref, this.ref));
		}
		assertThat(rows()).isZero();
		// The other parameter is part of the request, and nobody remembers that one.
		assertReplay(assertPaid(post("/pay")), post("/pay"));
		assertThat(runs()).isEqualTo(1);
		assertThat(rows()).isEqualTo(1);
	}

	@Test
	void deathAfterTheCommitLeavesTheWorkDoneWithItsAnswer() {
		String path = "/pay?death=AFTER_THE_COMMIT";
		try (OtherJvm other = start()) {
			assertThatExceptionOfType(UncheckedIOException.class)
				.isThrownBy(() -> clientOf(other).post(path + "&ref=" + this.ref, this.ref));
		}
		assertThat(rows()).isEqualTo(1);
		Answer answer = assertPaid(post(path));
		assertThat(answer.replayed()).isTrue();
		assertThat(answer.text()).isEqualTo("payment in run 1");
		assertThat(runs()).isZero();
		assertThat(rows()).isEqualTo(1);
	}

	/**
	 * What is too large to be kept is done all the same, and that is what is known of it.
	 */
	@Test
	void deathInTheMiddleOfALargeAnswerLeavesTheWorkDone() throws IOException {
		String tooLarge = this.ref + "-too-large";
		try (OtherJvm other = start(); Socket one = new Socket(); Socket another = new Socket()) {
			int port = port(other);
			InputStream kept = begin(one, port, LARGE, this.ref);
			InputStream lost = begin(another, port, TOO_LARGE, tooLarge);
			other.kill();
			assertThat(rest(kept)).isLessThan(LARGE);
			assertThat(rest(lost)).isLessThan(TOO_LARGE);
		}
		assertThat(rows()).isEqualTo(1);
		assertThat(rows(tooLarge)).isEqualTo(1);
		Answer answer = post("/pay?filling=" + LARGE);
		assertThat(answer.status()).isEqualTo(201);
		assertThat(answer.replayed()).isTrue();
		assertThat(answer.text()).startsWith("payment in run ").hasSizeGreaterThan(LARGE);
		Answer unknown = this.client.post("/pay?filling=" + TOO_LARGE + "&ref=" + tooLarge, tooLarge);
		assertThat(unknown.status()).isEqualTo(409);
		// For a moment the answer might still be attached.
		assertThat(unknown.text()).containsAnyOf("in-progress", "result-unavailable");
		assertThat(runs()).isZero();
		assertThat(rows()).isEqualTo(1);
		assertThat(rows(tooLarge)).isEqualTo(1);
	}

	/** Sends a payment, and reads the first bytes of its answer. */
	private static InputStream begin(Socket socket, int port, int filling, String ref) throws IOException {
		socket.setReceiveBufferSize(10_000);
		socket.connect(new InetSocketAddress("127.0.0.1", port));
		socket.getOutputStream()
			.write(("POST /pay?filling=" + filling + "&ref=" + ref
					+ " HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\nIdempotency-Key: " + ref + "\r\n\r\n")
				.getBytes(StandardCharsets.US_ASCII));
		InputStream in = socket.getInputStream();
		assertThat(new String(in.readNBytes(12), StandardCharsets.US_ASCII)).isEqualTo("HTTP/1.1 201");
		return in;
	}

	private static long rest(InputStream in) {
		long bytes = 0;
		byte[] buffer = new byte[10_000];
		try {
			for (int read = in.read(buffer); read >= 0; read = in.read(buffer)) {
				bytes += read;
			}
		}
		catch (IOException ex) {
			// It was reset.
		}
		return bytes;
	}

	private OtherJvm start() {
		List<String> arguments = new ArrayList<>(this.properties);
		arguments.add("--logging.level.root=ERROR");
		arguments.add("--spring.main.banner-mode=off");
		return OtherJvm.start(CommitApplication.class, arguments.toArray(String[]::new));
	}

	private static int port(OtherJvm other) {
		return Integer.parseInt(other.awaitLine("port \\d+").substring("port ".length()));
	}

	private static Client clientOf(OtherJvm other) {
		return new Client(port(other));
	}

	private Answer post(String path) {
		return this.client.post(path + (path.contains("?") ? "&" : "?") + "ref=" + this.ref, this.ref);
	}

	private int runs() {
		return this.payments.runs.get() - this.before;
	}

	private Integer rows() {
		return rows(this.ref);
	}

	private Integer rows(String reference) {
		return this.jdbc.queryForObject("select count(*) from payment where ref = ?", Integer.class, reference);
	}

	private static Answer assertPaid(Answer answer) {
		assertThat(answer.status()).as("%s", answer).isEqualTo(201);
		assertThat(answer.header("X-Payment")).isEqualTo("yes");
		return answer;
	}

	private static void assertReplay(Answer first, Answer second) {
		assertThat(second.replayed()).as("%s", second).isTrue();
		assertThat(second.status()).isEqualTo(first.status());
		assertThat(second.text()).isEqualTo(first.text()).isNotEmpty();
	}

	/** Nothing is left of the answer that the handler has given. */
	private static void assertRejected(Answer answer, String text) {
		assertThat(answer.text()).isEqualTo(text);
		assertThat(answer.status()).isEqualTo(503);
		assertThat(answer.replayed()).isFalse();
		assertThat(answer.header("X-Payment")).isNull();
	}

}
