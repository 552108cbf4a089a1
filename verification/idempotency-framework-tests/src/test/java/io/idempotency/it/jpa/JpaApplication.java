package io.idempotency.it.jpa;

import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.atomic.AtomicInteger;

import javax.sql.DataSource;

import io.idempotency.FailureMode;
import io.idempotency.Idempotent;
import io.idempotency.TransactionMode;
import jakarta.persistence.EntityManager;
import jakarta.persistence.EntityManagerFactory;
import jakarta.persistence.PersistenceException;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.validation.ConstraintViolationException;
import org.jspecify.annotations.Nullable;

import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.context.ApplicationEventPublisher;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.dao.DataIntegrityViolationException;
import org.springframework.http.HttpStatus;
import org.springframework.http.ResponseEntity;
import org.springframework.orm.jpa.SharedEntityManagerCreator;
import org.springframework.transaction.TransactionSystemException;
import org.springframework.transaction.UnexpectedRollbackException;
import org.springframework.transaction.annotation.Propagation;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.event.TransactionalEventListener;
import org.springframework.transaction.support.TransactionSynchronization;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.servlet.HandlerInterceptor;
import org.springframework.web.servlet.ModelAndView;
import org.springframework.web.servlet.config.annotation.InterceptorRegistry;
import org.springframework.web.servlet.config.annotation.WebMvcConfigurer;

/** A shop of entities. The transactions are those that Boot configures for JPA. */
@SpringBootConfiguration(proxyBeanMethods = false)
@EnableAutoConfiguration
@Import({ JpaApplication.Purchases.class, JpaApplication.Committed.class, JpaApplication.Controller.class })
class JpaApplication {

	/** Spring 7 has a shared one itself, which is primary. */
	@Bean
	EntityManager entityManager(EntityManagerFactory factory) {
		return SharedEntityManagerCreator.createSharedEntityManager(factory);
	}

	/** Asks for a purchase when its transaction is over. */
	@Bean
	WebMvcConfigurer interceptors(EntityManager entities) {
		HandlerInterceptor asking = new HandlerInterceptor() {

			@Override
			public void postHandle(HttpServletRequest request, HttpServletResponse response, Object handler,
					@Nullable ModelAndView model) {
				ask(request, response, "X-Seen");
			}

			@Override
			public void afterCompletion(HttpServletRequest request, HttpServletResponse response, Object handler,
					@Nullable Exception failure) {
				ask(request, response, "X-Seen-Later");
			}

			private void ask(HttpServletRequest request, HttpServletResponse response, String header) {
				Long seen = entities.createQuery("select count(p) from Purchase p where p.ref = :ref", Long.class)
					.setParameter("ref", request.getParameter("ref"))
					.getSingleResult();
				response.setHeader(header, seen + ", "
						+ (TransactionSynchronizationManager.isActualTransactionActive() ? "inside" : "outside"));
			}

		};
		return new WebMvcConfigurer() {

			@Override
			public void addInterceptors(InterceptorRegistry registry) {
				registry.addInterceptor(asking).addPathPatterns("/place", "/fail");
			}

		};
	}

	/** When the database is told of an entity that it does not take. */
	enum Told {

		BY_THE_HANDLER, AFTER_THE_HANDLER, AT_THE_COMMIT

	}

	static class Trouble extends RuntimeException {

		private static final long serialVersionUID = 1L;

	}

	record Placed(String ref) {
	}

	static class Purchases {

		private final EntityManager entities;

		Purchases(EntityManager entities) {
			this.entities = entities;
		}

		@Transactional
		public Purchase place(String ref) {
			Purchase purchase = new Purchase(ref, "placed");
			this.entities.persist(purchase);
			return purchase;
		}

		@Transactional
		public void placeAndFail(String ref) {
			place(ref);
			throw new Trouble();
		}

		@Transactional(propagation = Propagation.REQUIRES_NEW)
		public void log(String ref) {
			place(ref);
		}

	}

	/** Looks at the record from another connection when a purchase is committed. */
	static class Committed {

		volatile @Nullable String state;

		private final DataSource dataSource;

		Committed(DataSource dataSource) {
			this.dataSource = dataSource;
		}

		@TransactionalEventListener
		public void on(Placed event) throws SQLException {
			try (Connection connection = this.dataSource.getConnection();
					Statement statement = connection.createStatement();
					ResultSet records = statement.executeQuery("select state from idempotency_record"
							+ " where operation like '%Controller.place(%' order by fence desc limit 1")) {
				this.state = records.next() ? records.getString(1) : "none";
			}
		}

	}

	@RestController
	static class Controller {

		final AtomicInteger runs = new AtomicInteger();

		private final Purchases purchases;

		private final EntityManager entities;

		private final ApplicationEventPublisher events;

		Controller(Purchases purchases, EntityManager entities, ApplicationEventPublisher events) {
			this.purchases = purchases;
			this.entities = entities;
			this.events = events;
		}

		@PostMapping("/place")
		@Transactional
		@Idempotent(transaction = TransactionMode.JOIN)
		public Purchase place(@RequestParam String ref) {
			this.runs.incrementAndGet();
			Purchase purchase = new Purchase(ref, "placed");
			this.entities.persist(purchase);
			this.events.publishEvent(new Placed(ref));
			return purchase;
		}

		@PostMapping("/amend/{id}")
		@Idempotent(transaction = TransactionMode.JOIN)
		public Purchase amend(@PathVariable Long id) {
			this.runs.incrementAndGet();
			Purchase purchase = this.entities.find(Purchase.class, id);
			purchase.setNote("amended");
			return purchase;
		}

		@PostMapping("/fail")
		@Transactional
		@Idempotent(transaction = TransactionMode.JOIN)
		public Purchase fail(@RequestParam String ref) {
			place(ref);
			this.entities.flush();
			throw new Trouble();
		}

		@PostMapping("/rejected")
		@Idempotent(transaction = TransactionMode.JOIN)
		public ResponseEntity<Purchase> rejected(@RequestParam String ref, @RequestParam String note,
				@RequestParam Told told) {
			return persist(ref, note, told);
		}

		@PostMapping("/rejected-and-remembered")
		@Idempotent(transaction = TransactionMode.JOIN, onFailure = FailureMode.REMEMBER)
		public ResponseEntity<Purchase> remembered(@RequestParam String ref, @RequestParam String note,
				@RequestParam Told told) {
			return persist(ref, note, told);
		}

		@PostMapping("/place-or-find")
		@Idempotent(transaction = TransactionMode.JOIN, recover = "found",
				duplicateOn = { DataIntegrityViolationException.class, PersistenceException.class })
		public ResponseEntity<Purchase> placeOrFind(@RequestParam String ref, @RequestParam String note,
				@RequestParam Told told) {
			return persist(ref, note, told);
		}

		public ResponseEntity<Purchase> found(String ref, String note, Told told) {
			return ResponseEntity
				.ok(this.entities.createQuery("select p from Purchase p where p.ref = :ref", Purchase.class)
					.setParameter("ref", ref)
					.getSingleResult());
		}

		@PostMapping({ "/conflict", "/unhandled" })
		@Idempotent(transaction = TransactionMode.JOIN)
		public ResponseEntity<Purchase> conflict(@RequestParam String ref, @RequestParam String note,
				@RequestParam Told told) {
			return persist(ref, note, told);
		}

		private ResponseEntity<Purchase> persist(String ref, String note, Told told) {
			this.runs.incrementAndGet();
			Purchase purchase = new Purchase(ref, note);
			EntityManager manager = this.entities;
			if (told == Told.AT_THE_COMMIT) {
				TransactionSynchronizationManager.registerSynchronization(new TransactionSynchronization() {

					@Override
					public void beforeCommit(boolean readOnly) {
						manager.persist(purchase);
					}

				});
			}
			else {
				manager.persist(purchase);
			}
			if (told == Told.BY_THE_HANDLER) {
				manager.flush();
			}
			return ResponseEntity.status(HttpStatus.CREATED).header("X-Purchase", ref).body(purchase);
		}

		@PostMapping("/customers/{id}")
		@Idempotent(transaction = TransactionMode.JOIN)
		public Customer customer(@PathVariable Long id) {
			this.runs.incrementAndGet();
			return this.entities.find(Customer.class, id);
		}

		@PostMapping("/nested")
		@Idempotent(transaction = TransactionMode.JOIN)
		public Purchase nested(@RequestParam String ref, @RequestParam boolean fails) {
			this.runs.incrementAndGet();
			this.purchases.log(ref + "-log-" + this.runs.get());
			Purchase purchase = this.purchases.place(ref);
			if (fails) {
				throw new Trouble();
			}
			return purchase;
		}

		/** The inner failure is taken for harmless, but the transaction is lost. */
		@PostMapping("/nested/swallowed")
		@Transactional
		@Idempotent(transaction = TransactionMode.JOIN)
		public String swallow(@RequestParam String ref) {
			this.runs.incrementAndGet();
			try {
				this.purchases.placeAndFail(ref);
				return "placed";
			}
			catch (Trouble ex) {
				return "not placed";
			}
		}

		@ExceptionHandler({ DataIntegrityViolationException.class, PersistenceException.class,
				ConstraintViolationException.class, TransactionSystemException.class })
		ResponseEntity<String> rejection(Exception rejection, HttpServletRequest request) throws Exception {
			return switch (request.getRequestURI()) {
				case "/unhandled" -> throw rejection;
				case "/conflict" -> ResponseEntity.status(HttpStatus.CONFLICT).body("conflict");
				default -> ResponseEntity.status(HttpStatus.SERVICE_UNAVAILABLE).body("rejected");
			};
		}

		@ExceptionHandler({ Trouble.class, UnexpectedRollbackException.class })
		ResponseEntity<String> trouble(RuntimeException trouble) {
			return ResponseEntity.status(HttpStatus.INTERNAL_SERVER_ERROR).body(trouble.getClass().getSimpleName());
		}

	}

}
