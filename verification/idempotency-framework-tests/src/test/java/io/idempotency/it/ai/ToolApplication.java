package io.idempotency.it.ai;

import java.io.IOException;
import java.security.Principal;
import java.util.List;

import io.idempotency.Idempotent;
import io.modelcontextprotocol.server.McpStatelessServerFeatures;
import jakarta.servlet.Filter;
import jakarta.servlet.FilterChain;
import jakarta.servlet.ServletException;
import jakarta.servlet.ServletRequest;
import jakarta.servlet.ServletResponse;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletRequestWrapper;
import org.jspecify.annotations.Nullable;

import org.springframework.ai.chat.model.ToolContext;
import org.springframework.ai.mcp.annotation.spring.SyncMcpAnnotationProviders;
import org.springframework.ai.tool.ToolCallbackProvider;
import org.springframework.ai.tool.annotation.Tool;
import org.springframework.ai.tool.method.MethodToolCallbackProvider;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.jdbc.core.JdbcTemplate;

/** A server of the Model Context Protocol whose tools are guarded. */
@SpringBootConfiguration(proxyBeanMethods = false)
@EnableAutoConfiguration
class ToolApplication {

	/** What the properties of this module leave out for all tests. */
	static final String JPA = "org.springframework.boot.autoconfigure.orm.jpa.HibernateJpaAutoConfiguration,"
			+ "org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration";

	@Bean
	Bank bank() {
		return new Bank();
	}

	@Bean
	Limits limits() {
		return new Limits();
	}

	@Bean
	BankTools bankTools(Bank bank, ObjectProvider<Orders> orders) {
		return new BankTools(bank, orders);
	}

	/** In WebFlux, where nobody knows that a tool calls it, it would be rejected. */
	@Bean
	@ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.SERVLET)
	Orders orders(Bank bank) {
		return new Orders(bank);
	}

	@Bean
	PayoutTools payoutTools(Bank bank) {
		return new PayoutTools(bank);
	}

	@Bean
	@ConditionalOnProperty(name = "idempotency.store", havingValue = "jdbc")
	LedgerTools ledgerTools(JdbcTemplate jdbc) {
		return new LedgerTools(jdbc);
	}

	@Bean
	ToolCallbackProvider payoutToolCallbacks(PayoutTools tools) {
		return MethodToolCallbackProvider.builder().toolObjects(tools).build();
	}

	/** What a server without sessions would have. */
	@Bean
	List<McpStatelessServerFeatures.SyncToolSpecification> statelessTools(BankTools tools) {
		return SyncMcpAnnotationProviders.statelessToolSpecifications(List.of(tools));
	}

	@Bean
	Filter users() {
		return new UserFilter();
	}

	/** Tools of a model, which the server offers, too. */
	public static class PayoutTools {

		private final Bank bank;

		PayoutTools(Bank bank) {
			this.bank = bank;
		}

		@Tool(description = "Pays out")
		@Idempotent
		public String payout(String account, ToolContext context) {
			return this.bank.pay("paid out to " + account);
		}

		@Tool(description = "Pays out in the process of the model")
		@Idempotent(key = "#account")
		public String payoutOnce(String account) throws InterruptedException {
			return this.bank.payWhenOpened("paid out to " + account);
		}

		@Tool(description = "Pays out to an account with a long name")
		@Idempotent(key = "#account[50]")
		public String payoutByName(String account) {
			return this.bank.pay("paid out to " + account);
		}

		@Tool(description = "Pays out within the limits of the account")
		@Idempotent(key = "@limits.of(#account)")
		public String payoutWithinLimits(String account) {
			return this.bank.pay("paid out to " + account);
		}

	}

	/** What the key of a tool asks. */
	public static class Limits {

		public String of(String account) {
			throw new IllegalStateException("Table LIMITS of account " + account);
		}

	}

	/** Names the user, as an authentication would. */
	static class UserFilter implements Filter {

		@Override
		public void doFilter(ServletRequest request, ServletResponse response, FilterChain chain)
				throws IOException, ServletException {
			String user = ((HttpServletRequest) request).getHeader("X-User");
			chain.doFilter(new HttpServletRequestWrapper((HttpServletRequest) request) {

				@Override
				public @Nullable Principal getUserPrincipal() {
					return (user != null) ? () -> user : null;
				}

			}, response);
		}

	}

}
