package io.idempotency.it.jdbc;

import java.util.List;
import java.util.UUID;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Consumer;

import io.idempotency.it.client.Answer;
import io.idempotency.it.client.Client;
import io.idempotency.it.servers.StoreAlone;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.MethodParameter;
import org.springframework.http.MediaType;
import org.springframework.http.converter.HttpMessageConverter;
import org.springframework.http.server.ServerHttpRequest;
import org.springframework.http.server.ServerHttpResponse;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.test.util.AopTestUtils;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.web.bind.annotation.ControllerAdvice;
import org.springframework.web.servlet.HandlerInterceptor;
import org.springframework.web.servlet.ModelAndView;
import org.springframework.web.servlet.config.annotation.InterceptorRegistry;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;
import org.springframework.web.servlet.mvc.method.annotation.ResponseBodyAdvice;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * What an application does on the way of an answer that commits with its work: its
 * {@link ResponseBodyAdvice} is inside of the transaction, its interceptors are behind
 * the commit.
 */
@StoreAlone
@EachDatabase(value = {}, and = Database.POSTGRESQL_18)
class JoinedAnswerTests {

	private final String ref = UUID.randomUUID().toString();

	private final AdvisedApplication.Charges charges;

	private final Around around;

	private final JdbcTemplate jdbc;

	private final Client client;

	/** The steps of a request, with the rows that others saw then. */
	private final List<String> steps = new CopyOnWriteArrayList<>();

	JoinedAnswerTests(TestDatabase database) {
		ConfigurableApplicationContext application = database.share("application",
				() -> AdvisedApplication.start(database, Around.class));
		this.charges = AopTestUtils.getTargetObject(application.getBean(AdvisedApplication.Charges.class));
		this.charges.around = AdvisedApplication.NOTHING;
		this.charges.runs.set(0);
		this.charges.work = (run) -> TransactionSynchronizationManager
			.registerSynchronization(new TransactionSynchronization() {

				@Override
				public void afterCommit() {
					note("commit");
				}

			});
		this.around = application.getBean(Around.class);
		this.around.advice = (written) -> note("advice");
		this.around.postHandle = (written) -> note("postHandle");
		this.around.afterCompletion = (written) -> note("afterCompletion");
		this.jdbc = database.jdbc();
		this.client = new Client(
				Integer.parseInt(application.getEnvironment().getRequiredProperty("local.server.port")));
	}

	private void note(String step) {
		this.steps.add(step + ", others see " + rows(this.ref)
				+ (TransactionSynchronizationManager.isActualTransactionActive() ? ", in the transaction" : ""));
	}

	private Answer post() {
		return this.client.post("/charge?ref=" + this.ref, this.ref);
	}

	private int rows(String reference) {
		return this.jdbc.queryForObject("select count(*) from charge where ref = ?", Integer.class, reference);
	}

	@Test
	void answerIsMadeInTheTransactionAndInterceptorsComeBehindTheCommit() {
		assertThat(post().status()).isEqualTo(201);
		assertThat(this.steps).containsExactly("advice, others see 0, in the transaction",
				"commit, others see 1, in the transaction", "postHandle, others see 1",
				"afterCompletion, others see 1");
		this.steps.clear();
		assertThat(post().replayed()).isTrue();
		assertThat(this.steps).containsExactly("afterCompletion, others see 1");
	}

	@Test
	void whatTheAdviceWritesCommitsWithTheWork() {
		this.around.advice = (written) -> written.update("insert into charge (ref) values (?)", this.ref + "-advice");
		Answer first = post();
		assertThat(first.status()).isEqualTo(201);
		assertThat(post().text()).isEqualTo(first.text());
		assertThat(rows(this.ref)).isEqualTo(1);
		assertThat(rows(this.ref + "-advice")).isEqualTo(1);
	}

	@Test
	void whatTheAdviceWritesIsRolledBackWithAWorkWhoseCommitFails() {
		this.around.advice = (written) -> written.update("insert into charge (ref) values (?)", this.ref + "-advice");
		this.charges.work = (run) -> TransactionSynchronizationManager
			.registerSynchronization(new TransactionSynchronization() {

				@Override
				public void beforeCommit(boolean readOnly) {
					throw new IllegalStateException("It fails on purpose");
				}

			});
		assertThat(post().status()).isEqualTo(500);
		expectNothing();
	}

	@Test
	void adviceThatFailsRollsTheWorkBack() {
		this.around.advice = (written) -> {
			written.update("insert into charge (ref) values (?)", this.ref + "-advice");
			throw new IllegalStateException("It fails on purpose");
		};
		assertThat(post().status()).isEqualTo(500);
		assertThat(this.steps).containsExactly("afterCompletion, others see 0");
		expectNothing();
	}

	/** Nothing was done, so the next request does it. */
	private void expectNothing() {
		assertThat(rows(this.ref)).isZero();
		assertThat(rows(this.ref + "-advice")).isZero();
		this.charges.work = (run) -> {
		};
		this.around.advice = (written) -> {
		};
		assertThat(post().text()).isEqualTo("charge in run 2");
		assertThat(rows(this.ref)).isEqualTo(1);
	}

	@Test
	void whatInterceptorsWriteIsNoPartOfTheWork() {
		Consumer<JdbcTemplate> write = (written) -> written.update("insert into charge (ref) values (?)",
				this.ref + "-interceptor");
		this.around.postHandle = write;
		this.around.afterCompletion = write;
		assertThat(post().status()).isEqualTo(201);
		assertThat(rows(this.ref + "-interceptor")).isEqualTo(2);
		Answer second = post();
		assertThat(second.replayed()).isTrue();
		assertThat(rows(this.ref + "-interceptor")).isEqualTo(3);
		assertThat(rows(this.ref)).isEqualTo(1);
	}

	/** The answer is committed, so its duplicates get it. */
	@Test
	void postHandleThatFailsIsTheFailureOfItsRequestAlone() {
		this.around.postHandle = (written) -> {
			throw new IllegalStateException("It fails on purpose");
		};
		assertThat(post().status()).isEqualTo(500);
		assertThat(rows(this.ref)).isEqualTo(1);
		Answer second = post();
		assertThat(second.status()).isEqualTo(201);
		assertThat(second.replayed()).isTrue();
		assertThat(second.text()).isEqualTo("charge in run 1");
	}

	@Test
	void afterCompletionThatFailsChangesNothing() {
		this.around.afterCompletion = (written) -> {
			throw new IllegalStateException("It fails on purpose");
		};
		Answer first = post();
		assertThat(first.status()).isEqualTo(201);
		Answer second = post();
		assertThat(second.replayed()).isTrue();
		assertThat(second.text()).isEqualTo(first.text());
		assertThat(rows(this.ref)).isEqualTo(1);
	}

	/** The interceptor and the advice, which do what a test says. */
	@ControllerAdvice
	static class Around implements HandlerInterceptor, WebMvcConfigurer, ResponseBodyAdvice<Object> {

		private final JdbcTemplate jdbc;

		volatile Consumer<JdbcTemplate> advice = (written) -> {
		};

		volatile Consumer<JdbcTemplate> postHandle = (written) -> {
		};

		volatile Consumer<JdbcTemplate> afterCompletion = (written) -> {
		};

		Around(JdbcTemplate jdbc) {
			this.jdbc = jdbc;
		}

		@Override
		public void addInterceptors(InterceptorRegistry registry) {
			registry.addInterceptor(this).addPathPatterns("/charge");
		}

		@Override
		public void postHandle(HttpServletRequest request, HttpServletResponse response, Object handler,
				@Nullable ModelAndView model) {
			this.postHandle.accept(this.jdbc);
		}

		@Override
		public void afterCompletion(HttpServletRequest request, HttpServletResponse response, Object handler,
				@Nullable Exception failure) {
			this.afterCompletion.accept(this.jdbc);
		}

		@Override
		public boolean supports(MethodParameter returned, Class<? extends HttpMessageConverter<?>> converter) {
			return returned.getContainingClass() == AdvisedApplication.Charges.class;
		}

		@Override
		public @Nullable Object beforeBodyWrite(@Nullable Object body, MethodParameter returned, MediaType type,
				Class<? extends HttpMessageConverter<?>> converter, ServerHttpRequest request,
				ServerHttpResponse response) {
			this.advice.accept(this.jdbc);
			return body;
		}

	}

}
