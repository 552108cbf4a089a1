package io.idempotency.it.jdbc;

import java.io.IOException;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiConsumer;
import java.util.function.IntConsumer;
import java.util.function.Supplier;

import javax.sql.DataSource;

import io.idempotency.Idempotent;
import io.idempotency.TransactionMode;
import jakarta.servlet.Filter;
import jakarta.servlet.http.HttpServletResponse;
import org.aopalliance.intercept.MethodInterceptor;
import org.jspecify.annotations.Nullable;

import org.springframework.aop.Advisor;
import org.springframework.aop.support.NameMatchMethodPointcutAdvisor;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Role;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.Ordered;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.security.config.annotation.web.builders.HttpSecurity;
import org.springframework.security.web.SecurityFilterChain;
import org.springframework.stereotype.Controller;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.servlet.mvc.method.annotation.StreamingResponseBody;
import org.springframework.web.util.ContentCachingResponseWrapper;

/** Charges whose records commit with them, with advice that is outside of the guard. */
@SpringBootConfiguration(proxyBeanMethods = false)
@EnableAutoConfiguration
@Import({ AdvisedApplication.Charges.class, AdvisedApplication.Services.class })
class AdvisedApplication {

	/**
	 * What the advice around the handlers does: nothing, unless a test says otherwise.
	 */
	static final MethodInterceptor NOTHING = (call) -> call.proceed();

	static ConfigurableApplicationContext start(TestDatabase database, Class<?>... more) {
		return start(database.jdbc(), database.sharedPool("pool", 4), more);
	}

	/**
	 * Starts the application.
	 * @param jdbc makes the table
	 * @param pool leads to the database
	 * @param more further beans
	 * @return the application
	 */
	static ConfigurableApplicationContext start(JdbcTemplate jdbc, DataSource pool, Class<?>... more) {
		jdbc.execute("create table if not exists charge (ref varchar(100), note varchar(100))");
		return new SpringApplicationBuilder(AdvisedApplication.class).sources(more)
			.registerShutdownHook(false)
			.initializers((context) -> ((GenericApplicationContext) context).registerBean("dataSource",
					DataSource.class, () -> pool))
			.run("--server.port=0", "--idempotency.store=jdbc", "--idempotency.wait-timeout=1s",
					"--idempotency.http.max-response-size=100KB");
	}

	@Bean
	JdbcTemplate jdbcTemplate(DataSource dataSource) {
		return new JdbcTemplate(dataSource);
	}

	@Bean
	PlatformTransactionManager transactionManager(DataSource dataSource,
			ObjectProvider<TransactionExecutionListener> listeners) {
		DataSourceTransactionManager manager = new DataSourceTransactionManager(dataSource);
		listeners.orderedStream().forEach(manager::addListener);
		return manager;
	}

	@Bean
	SecurityFilterChain security(HttpSecurity http) throws Exception {
		return http.csrf((csrf) -> csrf.disable())
			.authorizeHttpRequests((requests) -> requests.anyRequest().permitAll())
			.build();
	}

	/** As advice that repeats a method has it, if nobody says where it belongs. */
	@Bean
	@Role(BeanDefinition.ROLE_INFRASTRUCTURE)
	static Advisor outside() {
		NameMatchMethodPointcutAdvisor advisor = new NameMatchMethodPointcutAdvisor(
				(MethodInterceptor) (call) -> ((Charges) call.getThis()).around.invoke(call));
		advisor.setMappedNames("charge", "chargeApart");
		advisor.setClassFilter(Charges.class::isAssignableFrom);
		advisor.setOrder(Ordered.HIGHEST_PRECEDENCE);
		return advisor;
	}

	/**
	 * Holds some answers back itself, inside of the guard: they are made after the
	 * commit.
	 */
	@Bean
	Filter wrapping() {
		return (request, response, chain) -> {
			if (request.getParameter("wrapped") == null) {
				chain.doFilter(request, response);
				return;
			}
			ContentCachingResponseWrapper wrapper = new ContentCachingResponseWrapper((HttpServletResponse) response);
			chain.doFilter(request, wrapper);
			wrapper.copyBodyToResponse();
		};
	}

	static class Late extends RuntimeException {

		private static final long serialVersionUID = 1L;

	}

	static class Declined extends RuntimeException {

		private static final long serialVersionUID = 1L;

	}

	/** What handlers call. */
	static class Services {

		@Transactional
		public String within(Supplier<String> work) {
			return work.get();
		}

		@Transactional(propagation = Propagation.REQUIRES_NEW)
		public String apart(Supplier<String> work) {
			return work.get();
		}

		@Transactional
		@Idempotent(key = "#ref")
		public String guarded(String ref, Supplier<String> work) {
			return work.get();
		}

		@Idempotent(key = "#ref")
		public String guardedWithin(String ref, Supplier<String> work) {
			return work.get();
		}

		@Idempotent(key = "#ref")
		public CompletableFuture<String> later(String ref, CompletableFuture<String> work) {
			return work;
		}

		@Idempotent(key = "#ref", transaction = TransactionMode.JOIN)
		public String joined(String ref, Supplier<String> work) {
			return work.get();
		}

	}

	@Controller
	static class Charges {

		volatile MethodInterceptor around = NOTHING;

		/** What goes on in a charge when its row is written. */
		volatile IntConsumer work = (run) -> {
		};

		final AtomicInteger runs = new AtomicInteger();

		private final JdbcTemplate jdbc;

		private final Services services;

		Charges(JdbcTemplate jdbc, Services services) {
			this.jdbc = jdbc;
			this.services = services;
		}

		@PostMapping("/charge")
		@Idempotent(transaction = TransactionMode.JOIN)
		public ResponseEntity<String> charge(@RequestParam String ref) {
			return ResponseEntity.status(HttpStatus.CREATED).body(insert(ref));
		}

		/** The other handler makes the answer. */
		@PostMapping("/order")
		@Idempotent(transaction = TransactionMode.JOIN)
		public String order(@RequestParam String ref) {
			this.jdbc.update("insert into charge (ref, note) values (?, 'order')", ref + "-order");
			return "forward:/charge";
		}

		/** The other handler makes the answer, if this one fails. */
		@PostMapping("/fallback")
		@Idempotent(transaction = TransactionMode.JOIN)
		public @Nullable String fallback(@RequestParam String ref) {
			this.jdbc.update("insert into charge (ref, note) values (?, 'order')", ref + "-order");
			throw new Declined();
		}

		/** Writes its answer itself, more than is held back, and fails. */
		@PostMapping("/write")
		@Transactional
		@Idempotent(transaction = TransactionMode.JOIN)
		public void write(@RequestParam String ref, HttpServletResponse response) throws IOException {
			writeApart(ref, response);
		}

		@PostMapping("/write-apart")
		@Transactional
		@Idempotent
		public void writeApart(@RequestParam String ref, HttpServletResponse response) throws IOException {
			insert(ref);
			response.getOutputStream().write(new byte[200_000]);
			throw new Late();
		}

		@ExceptionHandler
		ResponseEntity<String> late(Late late) {
			return ResponseEntity.ok("late");
		}

		@ExceptionHandler
		String declined(Declined declined) {
			return "forward:/charge";
		}

		@PostMapping("/charge-apart")
		@Transactional
		@Idempotent
		public ResponseEntity<String> chargeApart(@RequestParam String ref) {
			return ResponseEntity.status(HttpStatus.CREATED).body(insert(ref));
		}

		@PostMapping("/charge-by-service")
		@Idempotent
		public ResponseEntity<String> chargeByService(@RequestParam String ref) {
			return ResponseEntity.status(HttpStatus.CREATED).body(this.services.within(() -> insert(ref)));
		}

		/** What commits first is not the charge. */
		@PostMapping("/charge-and-log")
		@Transactional
		@Idempotent
		public ResponseEntity<String> chargeAndLog(@RequestParam String ref) {
			this.jdbc.update("insert into charge (ref, note) values (?, 'charge')", ref);
			return ResponseEntity.status(HttpStatus.CREATED).body(this.services.apart(() -> insert(ref + "-log")));
		}

		@PostMapping("/charge-and-note-failure")
		@Idempotent
		public ResponseEntity<String> chargeAndNoteFailure(@RequestParam String ref) {
			try {
				return chargeByService(ref);
			}
			catch (IllegalStateException ex) {
				this.services.within(() -> note(ref));
				throw ex;
			}
		}

		/** What notes the failure is guarded itself, and fails. */
		@PostMapping("/charge-and-note-failure-once")
		@Idempotent
		public ResponseEntity<String> chargeAndNoteFailureOnce(@RequestParam String ref) {
			try {
				return chargeByService(ref);
			}
			catch (IllegalStateException ex) {
				this.services.guardedWithin(ref, () -> note(ref));
				throw ex;
			}
		}

		@PostMapping("/charge-by-task")
		@Idempotent
		public Callable<ResponseEntity<String>> chargeByTask(@RequestParam String ref) {
			return () -> chargeByService(ref);
		}

		@PostMapping("/charge-by-stream")
		@Idempotent
		public StreamingResponseBody chargeByStream(@RequestParam String ref) {
			return (body) -> chargeByService(ref);
		}

		/** The work goes on when the handler has returned, so that its end is seen. */
		@PostMapping("/charge-by-future")
		@Idempotent
		public CompletableFuture<ResponseEntity<String>> chargeByFuture(@RequestParam String ref) {
			CompletableFuture<String> observed = new CompletableFuture<>();
			CompletableFuture<ResponseEntity<String>> charge = new CompletableFuture<>() {

				@Override
				public CompletableFuture<ResponseEntity<String>> whenComplete(
						BiConsumer<? super ResponseEntity<String>, ? super Throwable> action) {
					CompletableFuture<ResponseEntity<String>> watched = super.whenComplete(action);
					observed.complete(ref);
					return watched;
				}

			};
			observed.thenAcceptAsync((observedRef) -> {
				try {
					charge.complete(chargeByService(observedRef));
				}
				catch (IllegalStateException ex) {
					charge.completeExceptionally(ex);
				}
			});
			return charge;
		}

		private String note(String ref) {
			this.jdbc.update("insert into charge (ref, note) values (?, 'failure')", ref + "-failure");
			return ref;
		}

		String insert(String ref) {
			int run = this.runs.incrementAndGet();
			this.jdbc.update("insert into charge (ref, note) values (?, ?)", ref, "charge in run " + run);
			this.work.accept(run);
			return "charge in run " + run
					+ (TransactionSynchronizationManager.isActualTransactionActive() ? "" : " without a transaction");
		}

	}

}
