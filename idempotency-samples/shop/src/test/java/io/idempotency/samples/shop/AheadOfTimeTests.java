package io.idempotency.samples.shop;

import java.util.List;

import io.idempotency.it.client.Answer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.SpringProperties;

import static org.assertj.core.api.Assertions.assertThat;

/**
 * The shop as a native image would start it: from the code that Boot's Maven plugin has
 * generated, with the classes of proxies made by the build.
 */
class AheadOfTimeTests {

	private static final String FLAG = "spring.aot.enabled";

	private static ConfigurableApplicationContext context;

	private static ShopClient shop;

	@BeforeAll
	static void start() {
		SpringProperties.setProperty(FLAG, "true");
		try {
			SpringApplication application = new SpringApplication(ShopApplication.class);
			// The generated code has its name; here, Boot would take the class that runs
			// the tests.
			application.setMainApplicationClass(ShopApplication.class);
			context = application.run("--server.port=0");
		}
		finally {
			SpringProperties.setProperty(FLAG, null);
		}
		shop = new ShopClient(context.getEnvironment().getRequiredProperty("local.server.port", Integer.class));
	}

	@AfterAll
	static void stop() {
		if (context != null) {
			context.close();
		}
	}

	@Test
	void beansComeFromGeneratedCode() {
		RootBeanDefinition orders = (RootBeanDefinition) context.getBeanFactory().getBeanDefinition("orderController");
		assertThat(orders.getInstanceSupplier()).isNotNull();
	}

	@Test
	void classOfTheGuardIsMadeByTheBuild() {
		for (Class<?> guarded : List.of(OrderController.class, Refunds.class)) {
			assertThat(AopUtils.isCglibProxy(context.getBean(guarded))).isTrue();
			assertThat(guarded.getResource(guarded.getSimpleName() + "$$SpringCGLIB$$0.class")).isNotNull();
		}
	}

	@Test
	void orderIsReplayed() {
		String key = ShopClient.newKey();
		Answer first = shop.order(key, "sku-1", 1);
		Answer second = shop.order(key, "sku-1", 1);
		assertThat(first.status()).isEqualTo(201);
		assertThat(first.header("Idempotent-Replayed")).isNull();
		assertThat(second.header("Idempotent-Replayed")).isEqualTo("true");
		assertThat(second.text()).isEqualTo(first.text());
		assertThat(shop.order(key, "sku-1", 2).status()).isEqualTo(422);
	}

	@Test
	void refundOfAServiceIsGivenOnce() {
		String order = shop.newOrder();
		shop.send(shop.posting(order + "/payments", ShopClient.newKey(), ShopClient.amountOf("129.00")));
		String refund = "{\"reference\":\"R-1\",\"amount\":29.00}";
		Answer first = shop.send(shop.posting(order + "/refunds", refund));
		Answer second = shop.send(shop.posting(order + "/refunds", refund));
		assertThat(first.status()).isEqualTo(201);
		assertThat(second.text()).isEqualTo(first.text());
		assertThat(ShopClient.<Integer>read(shop.get(order + "/refunds"), "$.length()")).isEqualTo(1);
	}

	@Test
	void tokenIsIssuedAndUsedOnce() {
		String token = ShopClient.read(shop.send(shop.posting("/idempotency/tokens", "")), "$.token");
		String body = "{\"sku\":\"sku-1\",\"quantity\":1,\"requestId\":\"%s\"}".formatted(token);
		Answer first = shop.send(shop.posting("/api/recipes/token", token, body));
		Answer second = shop.send(shop.posting("/api/recipes/token", token, body));
		assertThat(first.status()).isEqualTo(201);
		assertThat(second.header("Idempotent-Replayed")).isEqualTo("true");
	}

}
