package io.idempotency.it.jpa;

import java.io.IOException;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;

import com.jayway.jsonpath.JsonPath;
import io.idempotency.it.jpa.JpaApplication.Told;
import jakarta.persistence.EntityManager;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.orm.jpa.JpaTransactionManager;
import org.springframework.test.util.AopTestUtils;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The claim, the entities and the answer of a controller method commit together in a
 * transaction of JPA, whether a session is open for the whole request or not.
 */
class JoinWithJpaTests {

	private static final Map<Boolean, ConfigurableApplicationContext> applications = new ConcurrentHashMap<>();

	private final HttpClient client = HttpClient.newHttpClient();

	private final String key = UUID.randomUUID().toString();

	private final String ref = UUID.randomUUID().toString();

	@AfterAll
	static void stop() {
		applications.values().forEach(ConfigurableApplicationContext::close);
		applications.clear();
	}

	@EachView
	void entityIsAnsweredWithItsIdentifierAndReplayed(boolean openInView) throws Exception {
		Shop shop = shop(openInView);
		HttpResponse<String> first = post(shop, "/place?ref=" + this.ref);
		assertThat(first.statusCode()).as(first.body()).isEqualTo(200);
		assertThat(id(first))
			.isEqualTo(shop.jdbc().queryForObject("select id from purchase where ref = ?", Long.class, this.ref));
		assertThat(JsonPath.<Integer>read(first.body(), "$.version")).isZero();
		assertReplay(first, post(shop, "/place?ref=" + this.ref));
		assertThat(shop.runs()).isEqualTo(1);
		assertThat(shop.rows(this.ref)).isEqualTo(1);
	}

	@EachView
	void listenerAfterTheCommitSeesTheRecordDone(boolean openInView) throws Exception {
		Shop shop = shop(openInView);
		// Modulith has made a proxy of it.
		JpaApplication.Committed committed = AopTestUtils
			.getTargetObject(shop.application().getBean(JpaApplication.Committed.class));
		committed.state = null;
		assertThat(post(shop, "/place?ref=" + this.ref).statusCode()).isEqualTo(200);
		assertThat(committed.state).isEqualTo("D");
	}

	/** The answer is made by then, but nothing of it has been sent. */
	@EachView
	void interceptorsSeeWhatIsCommitted(boolean openInView) throws Exception {
		Shop shop = shop(openInView);
		HttpResponse<String> placed = post(shop, "/place?ref=" + this.ref);
		assertThat(placed.headers().firstValue("X-Seen")).hasValue("1, outside");
		assertThat(placed.headers().firstValue("X-Seen-Later")).hasValue("1, outside");
		HttpResponse<String> failed = post(shop, "/fail?ref=" + this.ref + "-2");
		assertThat(failed.headers().firstValue("X-Seen")).isEmpty();
		assertThat(failed.headers().firstValue("X-Seen-Later")).hasValue("0, outside");
	}

	/** As an answer has it that is rendered after the commit. */
	@EachView
	void answerHasWhatTheFlushHasChanged(boolean openInView) throws Exception {
		Shop shop = shop(openInView);
		Long id = shop.save(new Purchase(this.ref, "placed")).getId();
		HttpResponse<String> first = post(shop, "/amend/" + id);
		assertThat(JsonPath.<String>read(first.body(), "$.note")).isEqualTo("amended");
		assertThat(JsonPath.<Integer>read(first.body(), "$.version")).isEqualTo(1)
			.isEqualTo(shop.jdbc().queryForObject("select version from purchase where id = ?", Integer.class, id));
		assertReplay(first, post(shop, "/amend/" + id));
		assertThat(shop.runs()).isEqualTo(1);
	}

	@EachView
	void handlerThatFailsLeavesNoEntityAndFreesTheKey(boolean openInView) throws Exception {
		Shop shop = shop(openInView);
		for (int i = 1; i <= 2; i++) {
			assertAnswer(post(shop, "/fail?ref=" + this.ref), 500, "Trouble");
			assertThat(shop.runs()).isEqualTo(i);
			assertThat(shop.rows(this.ref)).isZero();
		}
	}

	@EachRejection
	void entityOfAnotherIsRejectedAndTheKeyIsFree(boolean openInView, Told told) throws Exception {
		Shop shop = shop(openInView);
		Purchase earlier = shop.save(new Purchase(this.ref, "earlier"));
		String path = "/rejected?note=placed&ref=" + this.ref + "&told=" + told;
		assertRejected(post(shop, path));
		assertThat(shop.rows(this.ref)).isEqualTo(1);
		shop.jdbc().update("delete from purchase where id = ?", earlier.getId());
		HttpResponse<String> placed = post(shop, path);
		assertThat(placed.statusCode()).as(placed.body()).isEqualTo(201);
		assertReplay(placed, post(shop, path));
		assertThat(shop.runs()).isEqualTo(2);
		assertThat(shop.rows(this.ref)).isEqualTo(1);
	}

	@EachRejection
	void entityThatIsThereIsLookedUpAndKept(boolean openInView, Told told) throws Exception {
		Shop shop = shop(openInView);
		Purchase earlier = shop.save(new Purchase(this.ref, "earlier"));
		String path = "/place-or-find?note=placed&ref=" + this.ref + "&told=" + told;
		HttpResponse<String> found = post(shop, path);
		assertThat(found.statusCode()).as(found.body()).isEqualTo(200);
		assertThat(id(found)).isEqualTo(earlier.getId());
		assertThat(found.headers().firstValue("X-Purchase")).isEmpty();
		assertReplay(found, post(shop, path));
		assertThat(shop.runs()).isEqualTo(1);
		assertThat(shop.rows(this.ref)).isEqualTo(1);
	}

	/** Spring does not say of such a commit that it was rolled back. */
	@EachRejection
	void entityThatIsNotValidIsRejectedAndTheKeyIsFree(boolean openInView, Told told) throws Exception {
		Shop shop = shop(openInView);
		for (int i = 1; i <= 2; i++) {
			assertRejected(post(shop, "/rejected?note=&ref=" + this.ref + "&told=" + told));
			assertThat(shop.runs()).isEqualTo(i);
			assertThat(shop.rows(this.ref)).isZero();
		}
	}

	@EachRejection
	void rejectionOfAnEntityIsRemembered(boolean openInView, Told told) throws Exception {
		Shop shop = shop(openInView);
		Purchase earlier = shop.save(new Purchase(this.ref, "earlier"));
		String path = "/rejected-and-remembered?note=placed&ref=" + this.ref + "&told=" + told;
		HttpResponse<String> first = post(shop, path);
		assertRejected(first);
		shop.jdbc().update("delete from purchase where id = ?", earlier.getId());
		assertReplay(first, post(shop, path));
		assertThat(shop.runs()).isEqualTo(1);
		assertThat(shop.rows(this.ref)).isZero();
	}

	/** Failures are not remembered, rejections are. */
	@EachRejection
	void conflictThatIsAnsweredWith4xxIsReplayed(boolean openInView, Told told) throws Exception {
		Shop shop = shop(openInView);
		Purchase earlier = shop.save(new Purchase(this.ref, "earlier"));
		String path = "/conflict?note=placed&ref=" + this.ref + "&told=" + told;
		HttpResponse<String> first = post(shop, path);
		assertAnswer(first, 409, "conflict");
		shop.jdbc().update("delete from purchase where id = ?", earlier.getId());
		assertReplay(first, post(shop, path));
		assertThat(shop.runs()).isEqualTo(1);
		assertThat(shop.rows(this.ref)).isZero();
	}

	/** The answer is made of what is in the database, or there is none. */
	@EachRejection
	void failureThatNobodyHandlesFreesTheKey(boolean openInView, Told told) throws Exception {
		Shop shop = shop(openInView);
		Purchase earlier = shop.save(new Purchase(this.ref, "earlier"));
		String path = "/unhandled?note=placed&ref=" + this.ref + "&told=" + told;
		assertThat(post(shop, path).statusCode()).isEqualTo(500);
		shop.jdbc().update("delete from purchase where id = ?", earlier.getId());
		HttpResponse<String> placed = post(shop, path);
		assertThat(placed.statusCode()).as(placed.body()).isEqualTo(201);
		assertReplay(placed, post(shop, path));
		assertThat(shop.runs()).isEqualTo(2);
	}

	/** Without an open session, the transaction itself is still there. */
	@EachView
	void relationIsLoadedWhileTheAnswerIsMade(boolean openInView) throws Exception {
		Shop shop = shop(openInView);
		Customer customer = shop.save(new Customer("Ann", List.of(new Purchase(this.ref, "placed"))));
		HttpResponse<String> first = post(shop, "/customers/" + customer.getId());
		assertThat(first.statusCode()).as(first.body()).isEqualTo(200);
		assertThat(JsonPath.<List<String>>read(first.body(), "$.purchases[*].ref")).containsExactly(this.ref);
		assertReplay(first, post(shop, "/customers/" + customer.getId()));
		assertThat(shop.runs()).isEqualTo(1);
	}

	/** Half of it is sent by then, and its transaction has ended. */
	@ParameterizedTest
	@ValueSource(booleans = true)
	void openSessionLoadsARelationOfAnAnswerThatIsTooLarge(boolean openInView) throws Exception {
		Shop shop = shop(openInView);
		Customer customer = shop.save(new Customer("x".repeat(80_000), List.of(new Purchase(this.ref, "placed"))));
		HttpResponse<String> first = post(shop, "/customers/" + customer.getId());
		assertThat(first.statusCode()).as(first.body()).isEqualTo(200);
		assertThat(JsonPath.<List<String>>read(first.body(), "$.purchases[*].ref")).containsExactly(this.ref);
		assertThat(post(shop, "/customers/" + customer.getId()).statusCode()).isEqualTo(409);
		assertThat(shop.runs()).isEqualTo(1);
	}

	@EachView
	void nestedTransactionIsThatOfTheRecordAndANewOneIsNot(boolean openInView) throws Exception {
		Shop shop = shop(openInView);
		for (int i = 1; i <= 2; i++) {
			assertAnswer(post(shop, "/nested?fails=true&ref=" + this.ref), 500, "Trouble");
			assertThat(shop.runs()).isEqualTo(i);
			assertThat(shop.rows(this.ref)).isZero();
			assertThat(shop.rows(this.ref + "-log-%")).isEqualTo(i);
		}
		String path = "/nested?fails=false&ref=" + this.ref;
		String other = UUID.randomUUID().toString();
		HttpResponse<String> first = post(shop, path, other);
		assertThat(first.statusCode()).as(first.body()).isEqualTo(200);
		assertReplay(first, post(shop, path, other));
		assertThat(shop.rows(this.ref)).isEqualTo(1);
		assertThat(shop.rows(this.ref + "-log-%")).isEqualTo(3);
	}

	@EachView
	void transactionThatANestedFailureHasLostFreesTheKey(boolean openInView) throws Exception {
		Shop shop = shop(openInView);
		for (int i = 1; i <= 2; i++) {
			assertAnswer(post(shop, "/nested/swallowed?ref=" + this.ref), 500, "UnexpectedRollbackException");
			assertThat(shop.runs()).isEqualTo(i);
			assertThat(shop.rows(this.ref)).isZero();
		}
	}

	private static Shop shop(boolean openInView) {
		ConfigurableApplicationContext application = applications.computeIfAbsent(openInView, JoinWithJpaTests::start);
		JpaApplication.Controller controller = AopTestUtils
			.getTargetObject(application.getBean(JpaApplication.Controller.class));
		return new Shop(application, controller, controller.runs.get());
	}

	private static ConfigurableApplicationContext start(boolean openInView) {
		ConfigurableApplicationContext application = new SpringApplicationBuilder(JpaApplication.class).run(
				"--spring.main.web-application-type=servlet", "--server.port=0", "--spring.autoconfigure.exclude=",
				"--spring.datasource.url=jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1",
				"--spring.jpa.hibernate.ddl-auto=create", "--spring.jpa.open-in-view=" + openInView,
				"--idempotency.store=jdbc", "--idempotency.jdbc.initialize-schema=always",
				"--idempotency.http.max-response-size=20KB");
		assertThat(application.getBean(PlatformTransactionManager.class)).isInstanceOf(JpaTransactionManager.class);
		return application;
	}

	private HttpResponse<String> post(Shop shop, String path) throws IOException, InterruptedException {
		return post(shop, path, this.key);
	}

	private HttpResponse<String> post(Shop shop, String path, String key) throws IOException, InterruptedException {
		String port = shop.application().getEnvironment().getProperty("local.server.port");
		HttpRequest request = HttpRequest.newBuilder(URI.create("http://localhost:" + port + path))
			.header("Idempotency-Key", key)
			.POST(HttpRequest.BodyPublishers.noBody())
			.build();
		return this.client.send(request, HttpResponse.BodyHandlers.ofString());
	}

	private static Long id(HttpResponse<String> answer) {
		return JsonPath.<Number>read(answer.body(), "$.id").longValue();
	}

	private static void assertReplay(HttpResponse<String> first, HttpResponse<String> second) {
		assertThat(second.headers().firstValue("Idempotent-Replayed")).as(second.body()).hasValue("true");
		assertThat(second.statusCode()).isEqualTo(first.statusCode());
		assertThat(second.body()).isEqualTo(first.body()).isNotEmpty();
	}

	/** Nothing is left of the answer that the handler has given. */
	private static void assertRejected(HttpResponse<String> answer) {
		assertAnswer(answer, 503, "rejected");
		assertThat(answer.headers().firstValue("X-Purchase")).isEmpty();
		assertThat(answer.headers().firstValue("Content-Type"))
			.hasValueSatisfying((type) -> assertThat(type).startsWith("text/plain"));
	}

	private static void assertAnswer(HttpResponse<String> answer, int status, String body) {
		assertThat(answer.body()).isEqualTo(body);
		assertThat(answer.statusCode()).isEqualTo(status);
		assertThat(answer.headers().firstValue("Idempotent-Replayed")).isEmpty();
	}

	@Target(ElementType.METHOD)
	@Retention(RetentionPolicy.RUNTIME)
	@ParameterizedTest(name = "spring.jpa.open-in-view={0}")
	@ValueSource(booleans = { true, false })
	@interface EachView {

	}

	@Target(ElementType.METHOD)
	@Retention(RetentionPolicy.RUNTIME)
	@ParameterizedTest(name = "spring.jpa.open-in-view={0}, told {1}")
	@CsvSource({ "true, BY_THE_HANDLER", "true, AFTER_THE_HANDLER", "true, AT_THE_COMMIT", "false, BY_THE_HANDLER",
			"false, AFTER_THE_HANDLER", "false, AT_THE_COMMIT" })
	@interface EachRejection {

	}

	/** An application, and how often its handlers had run before the test. */
	private record Shop(ConfigurableApplicationContext application, JpaApplication.Controller controller, int before) {

		int runs() {
			return this.controller.runs.get() - this.before;
		}

		JdbcTemplate jdbc() {
			return this.application.getBean(JdbcTemplate.class);
		}

		Integer rows(String refs) {
			return jdbc().queryForObject("select count(*) from purchase where ref like ?", Integer.class, refs);
		}

		<T> T save(T entity) {
			EntityManager entities = this.application.getBean(EntityManager.class);
			new TransactionTemplate(this.application.getBean(PlatformTransactionManager.class))
				.executeWithoutResult((status) -> entities.persist(entity));
			return entity;
		}

	}

}
